import { withArgumentErrors } from '../values/errors.ts';
import { isObject } from '../values/json.ts';

/** Returns the problem with a value, or undefined if it is valid. */
export type FieldCheck = (value: unknown) => string | undefined;

/**
 * Returns whether a server can have this name: 1 to 32 letters, digits, `-` and `_`, without `_` at the start, at the end
 * or twice in a row, so that in the name of a tool the server name ends where `__` begins.
 */
export function isMcpName(name: string): boolean {
  return withArgumentErrors(
    'isMcpName',
    () => name.length <= 32 && /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/.test(name),
  );
}

/** Returns the problem with the `mcp` setting; undefined if it is valid. Contains no value, because it may be a key. */
export function mcpProblem(value: unknown): string | undefined {
  try {
    if (!isObject(value)) return 'must map server names to settings with a command or a url';
    for (const [name, server] of Object.entries(value)) {
      const problem = isMcpName(name)
        ? serverProblem(server)
        : 'has an invalid name: use 1 to 32 characters from A-Z, a-z, 0-9, "-" and "_", without "_" at the start, at the end or twice in a row';
      if (problem !== undefined) return `entry "${name}" ${problem}`;
    }
    return undefined;
  } catch {
    return 'contains a value that cannot be read';
  }
}

function serverProblem(server: unknown): string | undefined {
  if (!isObject(server)) return 'must have a command or a url';
  const given = ['command', 'url'].filter((name) => server[name] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) return 'must have a command or a url, not both';
  const checks = { ...limits, ...(kind === 'url' ? address : program) };
  for (const [name, value] of Object.entries(server)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined)
      return `has an unknown field "${name}". Known: ${Object.keys(checks).join(', ')}`;
    const problem = check(value);
    if (problem !== undefined) return `has an invalid "${name}": it ${problem}`;
  }
  return undefined;
}

const text: FieldCheck = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a non-empty string';
const texts: FieldCheck = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? undefined
    : 'must be a list of strings; put values such as 1 or true in quotes';
const named: FieldCheck = (value) =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : 'must map names to strings; put values such as 1 or true in quotes';
const time: FieldCheck = (value) =>
  Number.isInteger(value) && Number(value) > 0 ? undefined : 'must be a whole number of milliseconds';
const yesOrNo: FieldCheck = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const effects: FieldCheck = (value) =>
  isObject(value) &&
  Object.values(value).every((item) => ['read', 'idempotent', 'once'].includes(String(item)))
    ? undefined
    : 'must map tools to "read", "idempotent" or "once"';
const mayRepeat: FieldCheck = (value) =>
  value === true || texts(value) === undefined ? undefined : 'must be true, or a list of tools';
const sandbox: FieldCheck = (value) =>
  ['strict', 'workspace', 'off'].includes(String(value))
    ? undefined
    : 'must be "strict", "workspace" or "off"';
const url: FieldCheck = (value) =>
  typeof value === 'string' && /^https?:\/\/\S+$/.test(value) && URL.canParse(value)
    ? undefined
    : 'must be an http or https URL';

const limits: Readonly<Record<string, FieldCheck>> = {
  tools: texts,
  effects,
  mayRepeat,
  trustHints: yesOrNo,
  trusted: yesOrNo,
  connectTimeout: time,
  callTimeout: time,
  disabled: yesOrNo,
};
const program: Readonly<Record<string, FieldCheck>> = {
  ...{ command: text, args: texts, env: named, cwd: text },
  sandbox,
};
const address: Readonly<Record<string, FieldCheck>> = { url, headers: named };
