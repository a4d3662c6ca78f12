import type { Environment } from './io.ts';

/** Returns the command that runs this program. A script that starts it from its sources sets COBBLER_COMMAND. */
export function ownName(env: Environment): string {
  return env['COBBLER_COMMAND'] || 'cobbler';
}

/** Rewrites the commands in a message so that the user can type them. */
export function withProgramName(text: string, env: Environment): string {
  const name = ownName(env);
  return name === 'cobbler' ? text : text.replace(/(?<![./\w-])cobbler (?=[a-z"<-])/g, `${name} `);
}
