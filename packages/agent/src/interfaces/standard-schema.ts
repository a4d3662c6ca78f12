import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/**
 * The part of the Standard Schema interface (standardschema.dev) and its JSON Schema extension that is used here. zod
 * 4.2 and later and other libraries implement it, so the core depends on none of them.
 */
export interface StandardSchema<Output, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** The result of validating a value with a Standard Schema. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem with a value and its path, as defined by Standard Schema. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Returns a schema with its keys in canonical order and without keywords that providers reject (`$schema`, zod's
 * integer bounds). Equal schemas then have equal bytes, and the cached prefix survives a reload.
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

/** Keeps all names, because their author chooses them: a property can be named `$schema` or `maximum`. */
function canonicalNames(names: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(names).sort()) result[name] = canonical(names[name] as Json, true);
  return result;
}
