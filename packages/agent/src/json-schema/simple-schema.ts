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
  if (schema === false) return problem(path, 'is not allowed');
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
  return problem(path, `must be ${types.join(' or ')}, not ${typeName(value)}`);
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
  if (typeof value === 'string') return checkString(schema, value, path);
  return undefined;
}

const maxChoices = 50;

/** Returns the problem with a limited number of choices, because a very long list would not help the model. */
export function notOneOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, maxChoices).map((choice) => JSON.stringify(choice));
  const more = choices.length > maxChoices ? `, … (${choices.length} in all)` : '';
  return `must be one of ${shown.join(', ')}${more}`;
}

function checkNumber(schema: Record<string, unknown>, value: number, path: string): string | undefined {
  const bound = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const least = bound('minimum');
  const most = bound('maximum');
  const above = bound('exclusiveMinimum');
  const below = bound('exclusiveMaximum');
  if (least !== undefined && value < least) return problem(path, `must be at least ${least}`);
  if (most !== undefined && value > most) return problem(path, `must be at most ${most}`);
  if (above !== undefined && value <= above) return problem(path, `must be more than ${above}`);
  if (below !== undefined && value >= below) return problem(path, `must be less than ${below}`);
  return undefined;
}

function checkString(schema: Record<string, unknown>, value: string, path: string): string | undefined {
  const { minLength, maxLength } = schema;
  if (typeof minLength === 'number' && lengthOf(value, minLength) < minLength)
    return problem(path, `must have at least ${counted(minLength, 'character')}`);
  if (typeof maxLength === 'number' && lengthOf(value, maxLength) > maxLength)
    return problem(path, `must have at most ${counted(maxLength, 'character')}`);
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
    const rule = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
    if (rule === false && !Object.hasOwn(properties, name))
      return problem(inside(path, name), 'is not a known argument');
    const found = check(rule as Json, item, inside(path, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkArray(schema: Record<string, unknown>, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const { minItems, maxItems, items } = schema;
  if (typeof minItems === 'number' && value.length < minItems)
    return problem(path, `must have at least ${counted(minItems, 'item')}`);
  if (typeof maxItems === 'number' && value.length > maxItems)
    return problem(path, `must have at most ${counted(maxItems, 'item')}`);
  for (const [index, item] of value.entries()) {
    const found = check(items as Json, item, inside(path, String(index)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Returns a number with its noun in the singular or plural. */
export function counted(count: number | string, noun: string, plural = `${noun}s`): string {
  return `${count} ${String(count) === '1' ? noun : plural}`;
}

/** Returns the problem of the argument at a path; an empty path means all arguments. */
export function problem(path: string, text: string): string {
  return `${path === '' ? 'the arguments' : path} ${text}`;
}
