import type { Environment } from './io.ts';

/**
 * How whoever reads a message can run this program: a script that starts it from its sources says so in
 * COBBLER_COMMAND.
 */
export function ownName(env: Environment): string {
  return env['COBBLER_COMMAND'] || 'cobbler';
}

/** A message with the commands that it names as whoever reads it can type them. */
export function asTyped(text: string, env: Environment): string {
  const name = ownName(env);
  return name === 'cobbler' ? text : text.replace(/(?<![./\w-])cobbler (?=[a-z"<-])/g, `${name} `);
}
