import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { AgentConfig, Environment } from '../config.ts';
import { AgentError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Price } from '../limits.ts';

/** The settings of `config.yaml`: which model, and what the command line would otherwise be told each time. */
export interface FileConfig extends AgentConfig {
  /** Keys by provider; `apiKey` alone belongs to `provider`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Prices in US dollars per million tokens, by model id; they beat every other source. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly maxTurns?: number;
  /** US dollars that one run may cost. */
  readonly maxUsd?: number;
}

/** What was read, and from where. */
export interface LoadedConfig {
  readonly values: FileConfig;
  /** The file, whether or not it exists. Absent when there is no home directory to look in. */
  readonly path?: string;
  readonly exists: boolean;
  /** Line of each top-level setting in the file, from 1. */
  readonly lines: Readonly<Record<string, number>>;
}

const maxBytes = 1_048_576;

/** The folder that holds everything Cobbler keeps: COBBLER_HOME, else `.cobbler` in the home directory. */
export function cobblerHome(env: Environment): string | undefined {
  if (env['COBBLER_HOME']) return env['COBBLER_HOME'];
  const home = env['HOME'] ?? env['USERPROFILE'] ?? systemHome();
  return home === undefined || home === '' ? undefined : join(home, '.cobbler');
}

/** Some systems have no home directory for a user; asking for it must not end the program. */
function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/**
 * Reads `config.yaml` from the folder given or {@link cobblerHome}. No file is an empty configuration.
 * @throws AgentError `invalid` with code `config`, naming file and line, for anything in it that cannot be used.
 */
export function loadConfig(
  options: { readonly home?: string; readonly env?: Environment } = {},
): LoadedConfig {
  const home = options.home ?? cobblerHome(options.env ?? process.env);
  if (home === undefined) return { values: {}, exists: false, lines: {} };
  const path = join(home, 'config.yaml');
  const text = readText(path);
  return text === undefined ? { values: {}, path, exists: false, lines: {} } : parseConfig(text, path);
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

/** Reads the text of a configuration file. Exported for editors and tests; see {@link loadConfig}. */
export function parseConfig(text: string, path: string): LoadedConfig {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
  const wrong = document.errors[0];
  if (wrong !== undefined) {
    throw unusable(
      path,
      counter.linePos(wrong.pos[0]).line,
      (wrong.message.split('\n')[0] ?? '').replace(/ at line \d+.*$/, ''),
    );
  }
  const data: unknown = document.toJS() ?? {};
  if (!isObject(data)) throw unusable(path, 1, 'the file must hold settings of the form "name: value"');
  const lines: Record<string, number> = {};
  if (isMapNode(document.contents)) {
    for (const { key } of document.contents.items) {
      const start = key.range?.[0];
      if (start !== undefined) lines[String(key.value)] = counter.linePos(start).line;
    }
  }
  for (const [name, value] of Object.entries(data)) {
    const check = Object.hasOwn(settings, name) ? settings[name as keyof typeof settings] : undefined;
    if (check === undefined) {
      throw unusable(
        path,
        lines[name],
        `there is no setting named "${name}". Known: ${Object.keys(settings).join(', ')}`,
      );
    }
    const problem = check(value);
    if (problem !== undefined) throw unusable(path, lines[name], `"${name}" ${problem}`);
  }
  return { values: data as FileConfig, path, exists: true, lines };
}

interface MapNode {
  readonly items: readonly {
    readonly key: { readonly value: unknown; readonly range?: readonly number[] | null };
  }[];
}

function isMapNode(node: unknown): node is MapNode {
  return isObject(node) && Array.isArray(node['items']);
}

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'must be text');
const count: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number';
const amount: Check = (value) => (typeof value === 'number' && value >= 0 ? undefined : 'must be a number');
const temperature: Check = (value) =>
  typeof value === 'number' && (value >= 0 || value === -1) ? undefined : 'must be a number, or -1';
const address: Check = (value) =>
  typeof value === 'string' && /^https?:\/\/\S+$/.test(value)
    ? undefined
    : 'must be an http or https address';

const settings: Readonly<Record<keyof FileConfig, Check>> = {
  provider: text,
  model: text,
  maxTokens: count,
  temperature,
  requestTimeout: count,
  apiKey: text,
  baseURL: address,
  keys: table(text, 'must name providers and their keys'),
  prices: table(price, 'must name models and their prices'),
  maxTurns: count,
  maxUsd: amount,
};

function table(check: Check, otherwise: string): Check {
  return (value) => {
    if (!isObject(value)) return otherwise;
    for (const [name, item] of Object.entries(value)) {
      const problem = check(item);
      if (problem !== undefined) return `entry "${name}" ${problem}`;
    }
    return undefined;
  };
}

function price(value: unknown): string | undefined {
  if (!isObject(value)) return 'must have input and output, in US dollars per million tokens';
  const known = ['input', 'output', 'cacheRead', 'cacheWrite'];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) return `has an unknown field "${unknown}". Known: ${known.join(', ')}`;
  if (amount(value['input']) ?? amount(value['output'])) return 'must have input and output as numbers';
  return undefined;
}

function unusable(path: string, line: number | undefined, problem: string): AgentError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new AgentError({ kind: 'invalid', code: 'config', message: `${place}: ${problem}.` });
}
