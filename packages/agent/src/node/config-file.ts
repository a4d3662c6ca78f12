import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { AgentError, withArgumentErrors } from '../values/errors.ts';
import { read, record, text as string, when } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { LoadedConfig } from './loaded-config.ts';
import { unusable } from './loaded-config.ts';

const maxBytes = 1_048_576;

/** Returns the directory for all of Cobbler's files: COBBLER_HOME, or `.cobbler` in the home directory. */
export function cobblerHome(env: Environment): string | undefined {
  return withArgumentErrors('cobblerHome', () => {
    if (env['COBBLER_HOME']) return env['COBBLER_HOME'];
    const home = env['HOME'] ?? env['USERPROFILE'] ?? systemHome();
    return home === undefined || home === '' ? undefined : join(home, '.cobbler');
  });
}

/** Returns the home directory of the user; undefined if there is none, for which `os.homedir` throws. */
export function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

const environment = when<Environment>(isObject, 'an object');

const homeFields = record<{ readonly home?: string; readonly env?: Environment }>({
  home: string,
  env: (value) => ({ ...environment(value) }),
});

/**
 * Reads `config.yaml` from the given directory or {@link cobblerHome}. A missing file is an empty configuration.
 * @throws AgentError `invalid` with code `config` for anything in the file that cannot be used; the message names the
 * file and line.
 */
export async function loadConfig(
  options: { readonly home?: string; readonly env?: Environment } = {},
): Promise<LoadedConfig> {
  const { env = process.env, home = cobblerHome(env) } = read(options, homeFields);
  if (home === undefined) return { values: {}, exists: false, lines: {} };
  const path = join(home, 'config.yaml');
  const text = readText(path);
  return text === undefined ? { values: {}, path, exists: false, lines: {} } : await parseConfig(text, path);
}

function readText(path: string): string | undefined {
  try {
    if (statSync(path).size > maxBytes) throw unusable(path, undefined, 'the file is larger than 1 MiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (AgentError.is(error)) throw error;
    const code = isObject(error) ? error['code'] : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unusable(path, undefined, `the file cannot be read (${String(code)})`);
  }
}

/** Parses a configuration, for editors and tests too; see {@link loadConfig}. Loads the large YAML parser if needed. */
export async function parseConfig(text: string, path: string): Promise<LoadedConfig> {
  const { readConfig } = await import('./config-text.ts');
  return readConfig(read(text, string, 'text'), read(path, string, 'path'));
}
