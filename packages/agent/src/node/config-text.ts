import { LineCounter, parseDocument } from 'yaml';
import { readDefinition } from '../store/budgets/definition.ts';
import { AgentError } from '../values/errors.ts';
import { read } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import { hostAdvice, parseAllowedHost } from './allowed-host.ts';
import type { FileConfig, LoadedConfig } from './loaded-config.ts';
import { unusable } from './loaded-config.ts';
import type { FieldCheck } from './mcp-setting.ts';
import { mcpProblem } from './mcp-setting.ts';

/** Parses YAML and checks every setting in it. Throws the same errors as `loadConfig`. */
export function readConfig(text: string, path: string): LoadedConfig {
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
  if (!isObject(data)) throw unusable(path, 1, 'the file must contain settings of the form "name: value"');
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

const text: FieldCheck = (value) => (typeof value === 'string' ? undefined : 'must be a string');
const count: FieldCheck = (value) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number';
const amount: FieldCheck = (value) =>
  Number.isFinite(value) && Number(value) >= 0 ? undefined : 'must be a non-negative number';
const yesOrNo: FieldCheck = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const names: FieldCheck = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
    ? undefined
    : 'must be a list of names';
const hosts: FieldCheck = (value) =>
  Array.isArray(value) &&
  value.every((host) => typeof host === 'string' && parseAllowedHost(host) !== undefined)
    ? undefined
    : `must be a list of hosts: ${hostAdvice}`;
const temperature: FieldCheck = (value) =>
  typeof value === 'number' && (value >= 0 || value === -1)
    ? undefined
    : 'must be a non-negative number, or -1';
const address: FieldCheck = (value) =>
  typeof value === 'string' && /^https?:\/\/\S+$/.test(value) ? undefined : 'must be an http or https URL';

function words(...known: readonly string[]): FieldCheck {
  const problem = `must be ${known.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`;
  return (value) => (known.some((word) => word === value) ? undefined : problem);
}

function webhook(value: unknown): string | undefined {
  const { protocol, hostname = '' } = (typeof value === 'string' && URL.parse(value)) || {};
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return isLocal || protocol === 'https:'
    ? undefined
    : 'must be an https URL, or an http URL that points to this machine';
}

const settings: Readonly<Record<keyof FileConfig, FieldCheck>> = {
  provider: text,
  model: text,
  maxTokens: count,
  temperature,
  search: yesOrNo,
  effort: words('low', 'medium', 'high', 'max'),
  requestTimeout: count,
  retryFor: count,
  apiKey: text,
  baseURL: address,
  fallback: names,
  keys: table(text, 'must map providers to their keys'),
  prices: table(price, 'must map models to their prices'),
  maxTurns: count,
  maxRepeats: count,
  maxUsd: amount,
  budgets: table(budget, 'must map names to budgets'),
  budget: text,
  alertWebhook: webhook,
  userBudget: (value) => budget(value, 'userBudget', budgetFields.slice(1)),
  compactAbove: count,
  offloadAbove: count,
  keepSessions: yesOrNo,
  audit: words('on', 'off'),
  askAtLimit: yesOrNo,
  allowHosts: hosts,
  notify,
  hooks: (value) => (isObject(value) ? undefined : 'must map events to hooks'),
  theme: words('dark', 'light', 'none', 'colorblind'),
  vim: yesOrNo,
  mcp: mcpProblem,
};

function table(check: (value: unknown, name: string) => string | undefined, otherwise: string): FieldCheck {
  return (value) => {
    if (!isObject(value)) return otherwise;
    for (const [name, item] of Object.entries(value)) {
      const problem = check(item, name);
      if (problem !== undefined) return `entry "${name}" ${problem}`;
    }
    return undefined;
  };
}

const chatCall = words('bell', 'desktop', 'off');

function notify(value: unknown): string | undefined {
  if (!isObject(value)) return chatCall(value);
  const { chat, webhook: url, secret, command, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return `has an unknown field "${unknown}". Known: chat, webhook, secret, command`;
  const checks = [
    ['chat', chat, chatCall],
    ['webhook', url, address],
    ['secret', secret, text],
    ['command', command, names],
  ] as const;
  for (const [name, given, check] of checks) {
    const problem = given === undefined ? undefined : check(given);
    if (problem !== undefined) return `has an invalid "${name}": it ${problem}`;
  }
  return Array.isArray(command) && command.length === 0 ? 'needs a program in "command"' : undefined;
}

const budgetFields = ['parent', 'per', 'timeZone', 'limits', 'alerts'];
const amountFields = ['usd', 'tokens', 'requests'];

/** A field with another name is an error: if it were ignored, its limit would not apply. */
function budget(value: unknown, name: string, known: readonly string[] = budgetFields): string | undefined {
  const unknown =
    unknownField(value, known) ?? unknownField(isObject(value) && value['limits'], amountFields);
  if (unknown !== undefined) return unknown;
  try {
    read(isObject(value) ? { ...value, name } : value, readDefinition, name);
    return undefined;
  } catch (error) {
    return `is not a valid budget: ${AgentError.from(error).message.replace(/\.$/, '')}`;
  }
}

function unknownField(value: unknown, known: readonly string[]): string | undefined {
  const unknown = isObject(value) && Object.keys(value).find((name) => !known.includes(name));
  return unknown ? `has an unknown field "${unknown}". Known: ${known.join(', ')}` : undefined;
}

function price(value: unknown): string | undefined {
  if (!isObject(value) || value['longPrompt'] === undefined) return flatPrice(value);
  const { longPrompt, ...usual } = value;
  const { overInputTokens, price: long, ...rest } = isObject(longPrompt) ? longPrompt : {};
  const fits = count(overInputTokens) === undefined && Object.keys(rest).length === 0;
  if (!fits) return 'must have "overInputTokens" and "price" in "longPrompt"';
  const problem = flatPrice(long);
  return flatPrice(usual) ?? (problem && `${problem} in longPrompt.price`);
}

const priceFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'search'];

function flatPrice(value: unknown): string | undefined {
  if (!isObject(value)) return 'must have prices for "input" and "output", in US dollars per million tokens';
  const unknown = unknownField(value, priceFields);
  if (unknown !== undefined) return `${unknown}, longPrompt`;
  if (amount(value['input']) ?? amount(value['output'])) return 'must have numbers for "input" and "output"';
  const wrong = Object.entries(value).find(([, usd]) => amount(usd) !== undefined);
  return wrong && `must have a number for "${wrong[0]}"`;
}
