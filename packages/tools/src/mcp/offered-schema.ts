import type { Json, JsonObject } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';

/** Words that no provider takes at the top of a schema. */
const combining: ReadonlySet<string> = new Set([
  ...[
    'allOf',
    'anyOf',
    'oneOf',
    'not',
    'enum',
    'const',
    'if',
    'then',
    'else',
    '$ref',
    '$dynamicRef',
    'dependentSchemas',
  ],
]);

/**
 * A schema as the model may see it: the arguments that its combined parts name stand among its own, because providers
 * take no combination at the top. What that loses is still checked when the tool is called.
 */
export function offeredSchema(schema: JsonObject): JsonObject {
  if (!Object.keys(schema).some((key) => combining.has(key))) return schema;
  const properties: JsonObject = {};
  const required = new Set<Json>();
  collect(schema, true, { root: schema, properties, required, seen: new Set() });
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !combining.has(key)));
  return { ...rest, properties, ...(required.size > 0 && { required: [...required] }) };
}

interface Collected {
  readonly root: JsonObject;
  readonly properties: JsonObject;
  readonly required: Set<Json>;
  /** References may lead round, or to the same place many times. */
  readonly seen: Set<unknown>;
}

/** The nearest description of an argument counts. Only what every call needs is required. */
function collect(schema: unknown, isAlways: boolean, found: Collected): void {
  if (!isObject(schema) || found.seen.has(schema)) return;
  found.seen.add(schema);
  const { properties, required, $ref } = schema as JsonObject;
  for (const [name, one] of Object.entries(isObject(properties) ? properties : {}))
    if (!Object.hasOwn(found.properties, name)) found.properties[name] = one as Json;
  if (isAlways && Array.isArray(required)) for (const name of required) found.required.add(name);
  if (typeof $ref === 'string') collect(target(found.root, $ref), isAlways, found);
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = schema[key];
    if (Array.isArray(parts)) for (const part of parts) collect(part, isAlways && key === 'allOf', found);
  }
  for (const key of ['then', 'else'] as const) collect(schema[key], false, found);
}

function target(root: JsonObject, reference: string): unknown {
  let found: unknown = root;
  for (const step of reference.replace(/^#/, '').split('/').filter(Boolean)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
