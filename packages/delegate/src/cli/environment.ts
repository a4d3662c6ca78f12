import type { Environment } from '@cobbler/agent';
import { childEnvironment } from '@cobbler/agent/node';
import type { CliAdapter } from './cli-adapter.ts';
import type { KeyRelay } from './key-relay.ts';

/**
 * Returns the environment of a program: safe variables, and those that it needs for its own service. No other key
 * reaches it (reliability promise 19).
 */
export function programEnvironment(
  adapter: Pick<CliAdapter, 'variables' | 'settings'>,
  env: Environment,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = adapter.variables.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return childEnvironment(env, { ...adapter.settings, ...Object.fromEntries(own), ...extra });
}

/**
 * Returns the values of variables whose names indicate keys. Short values are not included, because they could occur
 * in ordinary text.
 */
export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  const named = Object.entries(env).filter(([name]) => /KEY|TOKEN|SECRET|PASSWORD/i.test(name));
  return named.map(([, value]) => value).filter((value) => value.length >= 8);
}

/** Opens the relay of a program that has a key. Loads it only then, because most programs never need it. */
export async function openRelay(
  { service }: Pick<CliAdapter, 'service'>,
  env: Record<string, string>,
): Promise<KeyRelay | undefined> {
  const { KeyRelay: Relay } = await import('./key-relay.ts');
  return await Relay.open(service, env);
}
