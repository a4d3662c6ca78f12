import type { Json, JsonObject } from '../values/json.ts';
import { clip, isObject } from '../values/json.ts';

/** Keywords that contain further schemas: a single one, a list or an object of them. */
const single: ReadonlySet<string> = new Set([
  ...['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames'],
  ...['then', 'unevaluatedItems', 'unevaluatedProperties'],
]);
const lists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const tables: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
]);

/** Maximum nesting: deeper schemas would overflow the stack of the code that reads them. */
const maxDepth = 128;

/** Returns a copy of a schema with `change` applied to it and all its subschemas, outer ones first. */
export function withSubschemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const inner = (value: Json): Json => (isObject(value) ? withSubschemas(value, change) : value);
  return mapFields(change(schema), (value, key) => {
    if (lists.has(key) && Array.isArray(value)) return value.map(inner);
    if (single.has(key)) return inner(value);
    return tables.has(key) && isObject(value) ? mapFields(value, inner) : value;
  });
}

function mapFields(fields: JsonObject, change: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]));
}

const types: ReadonlySet<unknown> = new Set([
  ...['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'],
]);

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

/** The check for the value of a keyword, and the error text. */
const expected: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  type: [(value) => [value].flat().every((name) => types.has(name)), 'not a JSON Schema type'],
  required: [isTexts, 'not a list of names'],
  enum: [Array.isArray, 'not a list'],
  pattern: [isPattern, 'not a valid regular expression'],
  $ref: [isText, 'not a reference'],
  multipleOf: [(value) => isNumber(value) && value > 0, 'not a number above 0'],
  ...Object.fromEntries(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((key) => [
      key,
      [isNumber, 'not a number'],
    ]),
  ),
  ...Object.fromEntries(
    ['Items', 'Length', 'Properties', 'Contains'].flatMap((what) =>
      ['min', 'max'].map((end) => [end + what, [isCount, 'not a non-negative integer']]),
    ),
  ),
};

/** Returns why a JSON Schema is unusable: the location, the value and what is wrong with it. Undefined if it can be used. */
export function schemaFault(schema: JsonObject): string | undefined {
  return formFault(schema, '#', 0) ?? missingTarget(schema);
}

/** Returns the first reference within the schema without a target. A schema with `$id` can refer to other documents. */
function missingTarget(schema: JsonObject): string | undefined {
  const wanted = new Set<string>();
  const anchors = new Set<unknown>();
  let hasNames = false;
  withSubschemas(schema, (one) => {
    for (const reference of [one['$ref'], one['$dynamicRef']])
      if (typeof reference === 'string') wanted.add(reference);
    for (const anchor of [one['$anchor'], one['$dynamicAnchor']]) anchors.add(anchor);
    hasNames ||= '$id' in one;
    return one;
  });
  if (hasNames) return undefined;
  const missing = [...wanted].find((one) => !anchors.has(one.slice(1)) && !leadsSomewhere(schema, one));
  return missing === undefined ? undefined : `it refers to ${shown(missing)}, which does not exist`;
}

function leadsSomewhere(schema: JsonObject, reference: string): boolean {
  if (reference !== '' && reference !== '#' && !reference.startsWith('#/')) return false;
  let found: unknown = schema;
  for (const step of reference.slice(2).split('/')) {
    if (step === '' && reference.length < 3) return true;
    const key = step
      .replace(/(?:%[0-9a-f]{2})+/gi, decoded)
      .replaceAll('~1', '/')
      .replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return false;
    found = Reflect.get(found, key);
  }
  return true;
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
}

function formFault(schema: unknown, path: string, depth: number): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return `${path} is ${shown(schema)}, which is not a schema`;
  if (depth > maxDepth) return `it is nested more than ${maxDepth} levels deep`;
  for (const [key, value] of Object.entries(schema)) {
    const at = `${path}/${key}`;
    const rule = Object.hasOwn(expected, key) ? expected[key] : undefined;
    if (rule !== undefined && !rule[0](value)) return `${at} is ${shown(value)}, which is ${rule[1]}`;
    const found = faultBelow(key, value, at, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function faultBelow(key: string, value: unknown, at: string, depth: number): string | undefined {
  if (!(lists.has(key) && Array.isArray(value))) {
    if (single.has(key)) return formFault(value, at, depth + 1);
    if (lists.has(key)) return `${at} is ${shown(value)}, which is not a list of schemas`;
    if (!tables.has(key)) return undefined;
    if (!isObject(value)) return `${at} is ${shown(value)}, which is not an object whose values are schemas`;
  }
  for (const [name, one] of Object.entries(value)) {
    if (key === 'patternProperties' && !isPattern(name))
      return `${at} contains ${shown(name)}, which is not a valid regular expression`;
    const found =
      key === 'dependencies' && isTexts(one) ? undefined : formFault(one, `${at}/${name}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Compiles a JavaScript pattern. Patterns of older schemas are valid only without the `u` flag. */
export function javaScriptPattern(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Try the next flags.
    }
  }
  return undefined;
}

function isPattern(value: unknown): boolean {
  return isText(value) && javaScriptPattern(value) !== undefined;
}

function shown(value: unknown): string {
  return clip(JSON.stringify(value) ?? String(value), 100);
}
