import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/** The keywords that {@link isSimple} accepts. The last group does not constrain the value. */
const simpleKeywords: ReadonlySet<string> = new Set([
  ...[
    'type',
    'enum',
    'const',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'minItems',
    'maxItems',
  ],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...[
    '$comment',
    'title',
    'description',
    'default',
    'examples',
    'format',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
]);

const maxDepth = 32;

/** Maximum number of choices, because each value is compared with all of them. */
const maxCompared = 1000;

/**
 * Returns whether {@link checkSimple} supports the complete schema, as it does for most tools. It needs no library,
 * and its work is bounded by the sizes of schema and value.
 */
export function isSimple(schema: unknown, depth = 0): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema) || depth > maxDepth) return false;
  if (!Object.keys(schema).every((key) => simpleKeywords.has(key))) return false;
  const {
    properties = {},
    additionalProperties = true,
    items = true,
    enum: choices = [],
    const: only,
  } = schema;
  const values = [...(Array.isArray(choices) ? choices : [{}]), only];
  return (
    values.length <= maxCompared &&
    values.every((value) => typeof value !== 'object' || value === null) &&
    isObject(properties) &&
    [...Object.values(properties), additionalProperties, items].every((one) => isSimple(one, depth + 1))
  );
}

/**
 * Validates a value against a schema of {@link isSimple}. @returns the problem, written for the model, or undefined.
 */
export function checkSimple(schema: JsonObject, value: unknown): string | undefined {
  return check(schema, value, '');
}

function check(schema: Json | undefined, value: unknown, path: string): string | undefined {
  if (schema === false) return problem(path);
  if (!isObject(schema)) return undefined;
  return (
    checkType(schema, value, path) ??
    checkValue(schema, value, path) ??
    checkObject(schema, value, path) ??
    checkArray(schema, value, path)
  );
}

function checkType(schema: Record<string, unknown>, value: unknown, path: string): string | undefined {
  const type = schema['type'];
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? type : [type];
  if (types.some((name) => isType(name, value))) return undefined;
  return problem(path, typeText(types, typeName(value)));
}

/** Returns the text for a value of the wrong type. */
export function typeText(types: readonly unknown[], found: string): string {
  return `must be ${types.join(' or ')}, not ${found}`;
}

function isType(name: unknown, value: unknown): boolean {
  if (name === 'integer') return Number.isInteger(value);
  if (name === 'number') return typeof value === 'number' && Number.isFinite(value);
  return name === typeName(value);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function checkValue(schema: Record<string, unknown>, value: unknown, path: string): string | undefined {
  const choices = schema['enum'];
  if (Array.isArray(choices) && !choices.includes(value)) return problem(path, notOneOf(choices));
  if ('const' in schema && schema['const'] !== value)
    return problem(path, `must be ${JSON.stringify(schema['const'])}`);
  if (typeof value === 'number') return checkNumber(schema, value, path);
  if (typeof value !== 'string') return undefined;
  const wrongLength = checkSize(schema, 'Length', (limit) => lengthOf(value, limit));
  return wrongLength && problem(path, wrongLength);
}

const maxChoices = 50;

/** Returns the problem with a limited number of choices, because a very long list would not help the model. */
export function notOneOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, maxChoices).map((choice) => JSON.stringify(choice));
  const more = choices.length > maxChoices ? `, … (${choices.length} in all)` : '';
  return `must be one of ${shown.join(', ')}${more}`;
}

/** The keywords that limit a number: how it must compare to the limit, and whether it breaks it. */
const limits: Readonly<Record<string, readonly [string, (value: number, limit: number) => boolean]>> = {
  minimum: ['at least', (value, limit) => value < limit],
  maximum: ['at most', (value, limit) => value > limit],
  exclusiveMinimum: ['more than', (value, limit) => value <= limit],
  exclusiveMaximum: ['less than', (value, limit) => value >= limit],
};

/** The nouns of the keywords that limit a size. */
const nouns: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  Length: ['character', 'characters'],
  Items: ['item', 'items'],
  Properties: ['property', 'properties'],
};

/** Returns the text for a keyword that limits a number or a size; undefined for any other keyword. */
export function limitText(keyword: string, limit: number | string): string | undefined {
  const relation = limits[keyword]?.[0];
  if (relation !== undefined) return `must be ${relation} ${limit}`;
  const [one, many] = nouns[keyword.slice(3)] ?? [];
  const bound = keyword.startsWith('min') ? 'least' : 'most';
  return one && `must have at ${bound} ${limit} ${String(limit) === '1' ? one : many}`;
}

function checkNumber(schema: Record<string, unknown>, value: number, path: string): string | undefined {
  for (const [keyword, [, breaks]] of Object.entries(limits)) {
    const limit = schema[keyword];
    if (typeof limit === 'number' && breaks(value, limit)) return problem(path, limitText(keyword, limit));
  }
  return undefined;
}

/** Checks the two keywords that limit a size. */
function checkSize(
  schema: Record<string, unknown>,
  noun: 'Length' | 'Items',
  sizeOf: (limit: number) => number,
): string | undefined {
  const { [`min${noun}`]: min, [`max${noun}`]: max } = schema;
  if (typeof min === 'number' && sizeOf(min) < min) return limitText(`min${noun}`, min);
  if (typeof max === 'number' && sizeOf(max) > max) return limitText(`max${noun}`, max);
  return undefined;
}

/**
 * Returns the number of characters, not of UTF-16 code units. Code units are compared first, because there are never
 * fewer.
 */
function lengthOf(value: string, bound: number): number {
  return value.length < bound || value.length > bound * 2 ? value.length : [...value].length;
}

function checkObject(schema: Record<string, unknown>, value: unknown, path: string): string | undefined {
  if (!isObject(value)) return undefined;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      return problem(inside(path, name), 'is missing');
  }
  for (const [name, item] of Object.entries(value)) {
    const isKnown = Object.hasOwn(properties, name);
    const rule = isKnown ? properties[name] : schema['additionalProperties'];
    if (rule === false && !isKnown) return problem(inside(path, name), 'is not a known argument');
    const found = check(rule as Json, item, inside(path, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkArray(schema: Record<string, unknown>, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const wrongSize = checkSize(schema, 'Items', () => value.length);
  if (wrongSize !== undefined) return problem(path, wrongSize);
  for (const [index, item] of value.entries()) {
    const found = check(schema['items'] as Json, item, inside(path, String(index)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Returns the problem of the argument at a path; an empty path means all arguments. */
export function problem(path: string, text = 'is not allowed'): string {
  return `${path === '' ? 'the arguments' : path} ${text}`;
}
