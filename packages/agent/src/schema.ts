import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';

/**
 * The Standard Schema interface with its JSON Schema extension (standardschema.dev), as far as it is used
 * here: zod 4.2 and later and other libraries implement it, so that the core needs none of them.
 */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** What a Standard Schema's check gives. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value, and where, as Standard Schema has it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A schema in a canonical order of keys and without what providers do not take (`$schema`, zod's bounds of
 * whole numbers), so that equal schemas are equal bytes and the cached prefix survives a reload.
 */
export function canonicalSchema(schema: JsonObject): JsonObject {
  return canonical(schema, true) as JsonObject;
}

function canonical(value: Json, isSchema: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => canonical(item, isSchema));
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const item = value[key] as Json;
    if (isSchema && key === '$schema') continue;
    if (isSchema && key === 'maximum' && item === Number.MAX_SAFE_INTEGER) continue;
    if (isSchema && key === 'minimum' && item === Number.MIN_SAFE_INTEGER) continue;
    const inside = key === 'properties' || key === '$defs' || key === 'definitions' ? 'names' : key;
    if (inside === 'names' && isSchema && isObject(item)) {
      result[key] = canonicalNames(item as JsonObject);
    } else {
      result[key] = canonical(
        item,
        isSchema && key !== 'enum' && key !== 'const' && key !== 'default' && key !== 'examples',
      );
    }
  }
  return result;
}

/** Properties are names chosen by the author, so a property called `$schema` or `maximum` stays. */
function canonicalNames(names: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(names).sort()) result[name] = canonical(names[name] as Json, true);
  return result;
}

/**
 * Checks a value against the part of JSON Schema that tools use: types, properties, required, items, enum,
 * const, bounds, lengths, pattern, combinations and local references. Unknown keywords pass.
 * @returns what is wrong, in words for the model, or nothing.
 */
export function checkSchema(schema: JsonObject, value: unknown): string | undefined {
  return check(schema, value, { root: schema, path: '', depth: 0 });
}

interface Place {
  readonly root: JsonObject;
  readonly path: string;
  readonly depth: number;
}

const maxDepth = 64;

function check(schema: Json | undefined, value: unknown, place: Place): string | undefined {
  if (schema === false) return problem(place, 'is not allowed');
  if (!isObject(schema)) return undefined;
  if (place.depth > maxDepth) return problem(place, 'is nested too deeply');
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const found = check(resolve(place.root, reference), value, { ...place, depth: place.depth + 1 });
    if (found !== undefined) return found;
  }
  return (
    checkType(schema, value, place) ??
    checkValue(schema, value, place) ??
    checkObject(schema, value, place) ??
    checkArray(schema, value, place) ??
    checkCombination(schema, value, place)
  );
}

function checkType(schema: Record<string, unknown>, value: unknown, place: Place): string | undefined {
  const type = schema['type'];
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? type : [type];
  if (types.some((name) => isType(name, value))) return undefined;
  return problem(place, `must be ${types.join(' or ')}, not ${typeName(value)}`);
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

function checkValue(schema: Record<string, unknown>, value: unknown, place: Place): string | undefined {
  const choices = schema['enum'];
  if (Array.isArray(choices) && !choices.some((choice) => same(choice, value))) {
    return problem(place, `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`);
  }
  if ('const' in schema && !same(schema['const'], value))
    return problem(place, `must be ${JSON.stringify(schema['const'])}`);
  if (typeof value === 'number') return checkNumber(schema, value, place);
  if (typeof value === 'string') return checkString(schema, value, place);
  return undefined;
}

function checkNumber(schema: Record<string, unknown>, value: number, place: Place): string | undefined {
  const bound = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const least = bound('minimum');
  const most = bound('maximum');
  const above = bound('exclusiveMinimum');
  const below = bound('exclusiveMaximum');
  if (least !== undefined && value < least) return problem(place, `must be at least ${least}`);
  if (most !== undefined && value > most) return problem(place, `must be at most ${most}`);
  if (above !== undefined && value <= above) return problem(place, `must be more than ${above}`);
  if (below !== undefined && value >= below) return problem(place, `must be less than ${below}`);
  return undefined;
}

function checkString(schema: Record<string, unknown>, value: string, place: Place): string | undefined {
  const { minLength, maxLength, pattern } = schema;
  if (typeof minLength === 'number' && lengthOf(value, minLength) < minLength)
    return problem(place, `must have at least ${minLength} characters`);
  if (typeof maxLength === 'number' && lengthOf(value, maxLength) > maxLength)
    return problem(place, `must have at most ${maxLength} characters`);
  if (typeof pattern === 'string' && patternOf(pattern)?.test(value) === false)
    return problem(place, `must match ${pattern}`);
  return undefined;
}

/** Characters, not the units that JavaScript counts; those are counted first because there are never fewer. */
function lengthOf(value: string, bound: number): number {
  return value.length < bound || value.length > bound * 2 ? value.length : [...value].length;
}

/** Patterns of older schemas are valid only without the flag; one that never is says nothing. */
function patternOf(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Tried again without the flag, then given up.
    }
  }
  return undefined;
}

function checkObject(schema: Record<string, unknown>, value: unknown, place: Place): string | undefined {
  if (!isObject(value)) return undefined;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      return problem(inside(place, name), 'is missing');
  }
  for (const [name, item] of Object.entries(value)) {
    const rule = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
    if (rule === false && !Object.hasOwn(properties, name))
      return problem(inside(place, name), 'is not a known argument');
    const found = check(rule as Json, item, inside(place, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkArray(schema: Record<string, unknown>, value: unknown, place: Place): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const { minItems, maxItems, prefixItems, items } = schema;
  if (typeof minItems === 'number' && value.length < minItems)
    return problem(place, `must have at least ${minItems} items`);
  if (typeof maxItems === 'number' && value.length > maxItems)
    return problem(place, `must have at most ${maxItems} items`);
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  for (const [index, item] of value.entries()) {
    const found = check(
      (index < first.length ? first[index] : items) as Json,
      item,
      inside(place, String(index)),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkCombination(schema: Record<string, unknown>, value: unknown, place: Place): string | undefined {
  if (!isCombined(schema)) return undefined;
  const deeper = { ...place, depth: place.depth + 1 };
  const list = (key: string): Json[] => (Array.isArray(schema[key]) ? (schema[key] as Json[]) : []);
  for (const part of list('allOf')) {
    const found = check(part, value, deeper);
    if (found !== undefined) return found;
  }
  // Each part is checked once: twice at every level of a nested schema would take for ever.
  let first: string | undefined;
  const fitsAny = list('anyOf').some((part) => {
    const found = check(part, value, deeper);
    first ??= found;
    return found === undefined;
  });
  if (!fitsAny && first !== undefined) return first;
  const one = list('oneOf');
  const fits = one.filter((part) => check(part, value, deeper) === undefined).length;
  if (one.length > 0 && fits !== 1)
    return problem(place, fits === 0 ? 'fits none of the allowed forms' : 'fits more than one form');
  if ('not' in schema && check(schema['not'] as Json, value, deeper) === undefined)
    return problem(place, 'has a form that is not allowed');
  return undefined;
}

function isCombined(schema: Record<string, unknown>): boolean {
  return 'allOf' in schema || 'anyOf' in schema || 'oneOf' in schema || 'not' in schema;
}

function resolve(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: Json | undefined = root;
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? (found[key] as Json) : undefined;
  }
  return found;
}

function same(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

function inside(place: Place, name: string): Place {
  return {
    root: place.root,
    path: place.path === '' ? name : `${place.path}.${name}`,
    depth: place.depth + 1,
  };
}

function problem(place: Place, text: string): string {
  return `${place.path === '' ? 'the arguments' : place.path} ${text}`;
}
