import { isObject } from './fields.ts';

/** Keywords of JSON Schema that OpenAI enforces (developers.openai.com/api/docs/guides/structured-outputs). */
const enforced: ReadonlySet<string> = new Set([
  '$schema',
  '$defs',
  'definitions',
  '$ref',
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
  'const',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
]);

/**
 * Returns true if a schema can be enforced (`strict: true`) unchanged: the root is an object, every object requires
 * all its properties and allows no others, and only supported keywords occur. Any other schema is sent unchanged
 * without enforcement; the response then probably, but not certainly, matches.
 */
export function canBeStrict(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'object' && isStrict(schema);
}

function isStrict(schema: unknown): boolean {
  if (!isObject(schema) || !Object.keys(schema).every((key) => enforced.has(key))) return false;
  const { properties, items, anyOf } = schema;
  if (describesObject(schema) && !isClosed(schema)) return false;
  if (isObject(properties) && !Object.values(properties).every(isStrict)) return false;
  if (items !== undefined && !isStrict(items)) return false;
  if (anyOf !== undefined && !(Array.isArray(anyOf) && anyOf.every(isStrict))) return false;
  return [schema['$defs'], schema['definitions']].every(
    (definitions) =>
      definitions === undefined || (isObject(definitions) && Object.values(definitions).every(isStrict)),
  );
}

function describesObject(schema: Record<string, unknown>): boolean {
  const type = schema['type'];
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    schema['properties'] !== undefined
  );
}

function isClosed(schema: Record<string, unknown>): boolean {
  const { properties, required, additionalProperties } = schema;
  if (additionalProperties !== false || !isObject(properties)) return false;
  return Array.isArray(required) && Object.keys(properties).every((name) => required.includes(name));
}
