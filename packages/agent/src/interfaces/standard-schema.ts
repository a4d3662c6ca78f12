import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

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
