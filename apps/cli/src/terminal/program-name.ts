import type { Environment } from './io.ts';

/** The command that runs this program: a script that starts it from its sources sets COBBLER_COMMAND. */
export function ownName(env: Environment): string {
  return env['COBBLER_COMMAND'] || 'cobbler';
}

/** A message in which commands are written as the user can type them. */
export function asTyped(text: string, env: Environment): string {
  const name = ownName(env);
  return name === 'cobbler' ? text : text.replace(/(?<![./\w-])cobbler (?=[a-z"<-])/g, `${name} `);
}
