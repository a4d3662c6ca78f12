import type { Environment } from './io.ts';

/**
 * How whoever reads a message can run this program: a script that starts it from its sources says so in
 * COBBLER_COMMAND.
 */
export function ownName(env: Environment): string {
  return env['COBBLER_COMMAND'] || 'cobbler';
}
