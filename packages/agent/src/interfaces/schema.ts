import { AgentError } from '../values/errors.ts';
import { data } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts';
import { canonicalSchema } from './standard-schema.ts';

/** Schemas by the name of the argument that each describes. */
export type FieldSchemas = { readonly [name: string]: StandardSchema<unknown> };

/** The type of a value before (`input`) or after (`output`) a schema has validated and converted it. */
type TypeOf<Schema extends StandardSchema<unknown>, Side extends 'input' | 'output'> = NonNullable<
  Schema['~standard']['types']
>[Side];

type OptionalNames<Fields extends FieldSchemas, Side extends 'input' | 'output'> = {
  [Name in keyof Fields]: undefined extends TypeOf<Fields[Name], Side> ? Name : never;
}[keyof Fields];

type Combined<Fields extends FieldSchemas, Side extends 'input' | 'output', Optional extends keyof Fields> = {
  [Name in Exclude<keyof Fields, Optional>]: TypeOf<Fields[Name], Side>;
} & { [Name in Optional]?: TypeOf<Fields[Name], Side> };

/**
 * The types of the values that a record of schemas describes. A value that can be undefined is optional. The result is one
 * object type, so that messages of the compiler show its fields and not how they were computed.
 */
export type FieldTypes<Fields extends FieldSchemas, Side extends 'input' | 'output'> =
  Combined<Fields, Side, OptionalNames<Fields, Side>> extends infer Types
    ? { [Name in keyof Types]: Types[Name] }
    : never;

/** Either usable arguments, or the reason why they cannot be used, written for the model. */
export type Validation =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly problem: string };

/** A schema in the two forms that are used: JSON Schema for the model, and validation. */
export interface ReadableSchema {
  readonly json: JsonObject;
  /** Absent for JSON Schema, against which any value can be validated. */
  readonly validate: ((value: Record<string, unknown>) => Promise<Validation>) | undefined;
}

/** The place of a schema, for errors, and the converter that the user passed. */
export interface SchemaPlace {
  /** The owner, such as `Tool "weather"`. */
  readonly owner: string;
  /** The option that contains the schema, and the field within it. */
  readonly path: string;
  readonly toJsonSchema: ((schema: unknown) => unknown) | undefined;
}

/**
 * Reads a Standard Schema, a record of them, or JSON Schema.
 * @throws AgentError `invalid`, code `tool_schema`, which names the field that cannot be converted to JSON Schema.
 */
export function readSchema(given: unknown, place: SchemaPlace): ReadableSchema {
  if (isStandard(given)) {
    const json = canonicalSchema(jsonSchemaOf(given, place));
    return { json, validate: async (value) => validationOf(await given['~standard'].validate(value)) };
  }
  const fields = fieldsIn(given, place);
  if (fields === undefined) return { json: canonicalSchema(data(given)), validate: undefined };
  const properties = fields.map(([name, schema]) => [
    name,
    fieldSchema(schema, { ...place, path: `${place.path}.${name}` }),
  ]);
  const required = fields.filter(([, schema]) => !isOptional(schema)).map(([name]) => name);
  const json = { type: 'object', properties: Object.fromEntries(properties), required };
  return { json: canonicalSchema(json), validate: (value) => validateFields(fields, value) };
}

/**
 * Reads the schema of a value that is one object.
 * @throws AgentError like {@link readSchema}, or if the schema describes anything else.
 */
export function readObjectSchema(given: unknown, place: SchemaPlace): ReadableSchema {
  const schema = readSchema(given, place);
  const { type = 'missing, as in a union' } = schema.json;
  if (type === 'object') return schema;
  const advice = 'Use z.object({ … }), a record of schemas such as { city: z.string() }, or a JSON Schema';
  throw invalid(place, `${place.path} must have type object, but its type is ${String(type)}`, advice);
}

function isStandard(value: unknown): value is StandardSchema<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = '~standard' in value ? value['~standard'] : undefined;
  return isObject(standard) && typeof standard['validate'] === 'function';
}

/** Returns the fields of a record of schemas; undefined if the value is not one, but JSON Schema. */
function fieldsIn(given: unknown, place: SchemaPlace): [string, StandardSchema<unknown>][] | undefined {
  if (!isObject(given)) return undefined;
  const fields: [string, StandardSchema<unknown>][] = [];
  let other: string | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (isStandard(value)) fields.push([name, value]);
    else other ??= name;
  }
  if (other === undefined) return fields;
  if (fields.length > 0) throw invalid(place, `${place.path}.${other} is not a schema`, 'Use a zod type');
  return undefined;
}

function fieldSchema(schema: StandardSchema<unknown>, place: SchemaPlace): JsonObject {
  const json = jsonSchemaOf(schema, place);
  // A reference points into the whole schema, of which this becomes a part.
  if (JSON.stringify(json).includes('"$ref":'))
    throw invalid(
      place,
      `${place.path} refers to another schema`,
      'Pass one schema for all arguments, such as z.object({ … })',
    );
  return json;
}

/** Returns whether a value may be missing. A schema that only validates asynchronously counts as required. */
function isOptional(schema: StandardSchema<unknown>): boolean {
  try {
    const checked = schema['~standard'].validate(undefined);
    if (!(checked instanceof Promise)) return checked.issues === undefined;
    checked.catch(() => undefined);
  } catch {
    // A schema that cannot validate undefined needs a value.
  }
  return false;
}

async function validateFields(
  fields: readonly (readonly [string, StandardSchema<unknown>])[],
  given: Record<string, unknown>,
): Promise<Validation> {
  const values: [string, unknown][] = [];
  const issues: StandardIssue[] = [];
  for (const [name, schema] of fields) {
    const checked = await schema['~standard'].validate(Object.hasOwn(given, name) ? given[name] : undefined);
    if (checked.issues !== undefined)
      issues.push(...checked.issues.map(({ message, path = [] }) => ({ message, path: [name, ...path] })));
    else if (checked.value !== undefined) values.push([name, checked.value]);
  }
  return validationOf(issues.length > 0 ? { issues } : { value: Object.fromEntries(values) });
}

function validationOf(checked: StandardResult<unknown>): Validation {
  // A schema can convert the arguments to anything.
  if (checked.issues === undefined) return { ok: true, value: checked.value as Record<string, unknown> };
  const lines = checked.issues.slice(0, 5).map((issue) => {
    const path = (issue.path ?? [])
      .map((step) => String(typeof step === 'object' ? step.key : step))
      .join('.');
    // Some libraries start their messages with the path.
    return path === '' || issue.message.startsWith(`${path} `) ? issue.message : `${path}: ${issue.message}`;
  });
  return { ok: false, problem: lines.join('; ') };
}

function jsonSchemaOf(schema: StandardSchema<unknown>, place: SchemaPlace): JsonObject {
  const convert = converterOf(schema, place);
  if (convert === undefined) {
    const { vendor } = schema['~standard'];
    const why = `${place.path} is a schema from ${vendor}, which has no conversion to JSON Schema`;
    throw invalid(
      place,
      why,
      advice[vendor] ?? 'Set toJsonSchema to a function that converts it, or pass a JSON Schema',
    );
  }
  try {
    const json = convert();
    if (isObject(json)) return data(json);
    throw new TypeError(
      `the conversion returned ${json === null ? 'null' : `a value of type ${typeof json}`}`,
    );
  } catch (thrown) {
    const field = [place.path, ...unrepresentable(schema, place)].join('.');
    const why = `${field} cannot be converted to JSON Schema (${AgentError.from(thrown).message})`;
    throw invalid(place, why, 'Use a type that JSON supports, such as a string for a date');
  }
}

const advice: Readonly<Record<string, string>> = {
  zod: 'Use zod 4.2 or later, or pass zodToJsonSchema from the package zod-to-json-schema as toJsonSchema',
  valibot: 'Pass toJsonSchema from the package @valibot/to-json-schema as toJsonSchema',
};

/** Returns the conversion of a schema: the one that the user passed, or else its own. */
function converterOf(
  schema: StandardSchema<unknown>,
  { toJsonSchema }: SchemaPlace,
): (() => unknown) | undefined {
  if (toJsonSchema !== undefined) return () => toJsonSchema(schema);
  const own = schema['~standard'].jsonSchema;
  return own && (() => own.input({ target: 'draft-2020-12' }));
}

/** Returns the path to the first field whose schema cannot be written as JSON Schema, as far as its fields are known. */
function unrepresentable(schema: unknown, place: SchemaPlace): string[] {
  for (const [path, child] of fieldsOf(schema)) {
    try {
      if (isStandard(child)) converterOf(child, place)?.();
    } catch {
      return [...path, ...unrepresentable(child, place)];
    }
  }
  return [];
}

/**
 * Returns the inner schemas that a library exposes: the fields of an object, the elements of an array, the options of
 * a union, the schema inside an optional one. The names are those of zod and valibot.
 */
function fieldsOf(schema: unknown): (readonly [path: readonly string[], schema: unknown])[] {
  const { def, _def, shape, entries, element, item, options, wrapped } = readable(schema);
  const { innerType } = readable(def ?? _def);
  const alternatives: readonly unknown[] = Array.isArray(options) ? options : [];
  return [
    ...Object.entries(readable(shape ?? entries)).map(([name, field]) => [[name], field] as const),
    [['[]'], element ?? item],
    ...[...alternatives, innerType ?? wrapped].map((inner) => [[], inner] as const),
  ];
}

function readable(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function invalid({ owner }: SchemaPlace, why: string, what: string): AgentError {
  const message = `${owner} is invalid: ${why}. ${what}.`;
  return new AgentError({ kind: 'invalid', code: 'tool_schema', message });
}
