import type { Json, JsonObject, ToolEffect } from '@cobbler/agent';
import type { McpServerLimits } from '@cobbler/agent/node';
import { isObject, schemaProblem } from '@cobbler/agent/provider';
import { plainText, truncate } from './plain-text.ts';
import { mcpToolName } from './tool-name.ts';

/** Maximum number of characters of a description, because it is part of every request. */
const maxDescription = 2_000;

/** Maximum number of bytes of a schema. */
const maxSchema = 32_768;

const maxDepth = 32;

/** A tool of a server that can be offered to a model. */
export interface ListedTool {
  /** Its name on the server. */
  readonly ownName: string;
  /** Its name for the model. */
  readonly name: string;
  readonly description: string;
  /** The schema from the server, against which arguments are checked. */
  readonly schema: JsonObject;
  /** The same schema in a form that providers accept, which the model sees. */
  readonly parameters: JsonObject;
  readonly effect: ToolEffect;
  /** True if repeated identical calls with identical results are normal. */
  readonly mayRepeat: boolean;
  /** True if the user trusts what the server returns and does. */
  readonly trusted: boolean;
}

/** A tool that is not offered, with the reason. */
export interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/** Validates one entry of a server's list. The entry is untrusted: one invalid schema would break every request. */
export async function listedTool(
  server: string,
  config: McpServerLimits,
  entry: unknown,
): Promise<ListedTool | LeftOut | undefined> {
  if (!isObject(entry) || typeof entry['name'] !== 'string' || entry['name'] === '')
    return { name: '?', why: 'it has no name' };
  const ownName = entry['name'];
  if (config.tools !== undefined && !config.tools.includes(ownName)) return undefined;
  const shown = truncate(plainText(ownName), 80);
  if (isObject(entry['execution']) && entry['execution']['taskSupport'] === 'required')
    return { name: shown, why: 'it only works as a background task' };
  const schema = entry['inputSchema'];
  if (!isObject(schema) || schema['type'] !== 'object')
    return { name: shown, why: 'its schema does not describe an object' };
  const given = schema as JsonObject;
  const problem = formProblem(given) ?? (await schemaIssue(given));
  if (problem !== undefined) return { name: shown, why: problem };
  const description = typeof entry['description'] === 'string' ? entry['description'] : '';
  return {
    ownName,
    name: mcpToolName(server, ownName),
    description: truncate(plainText(description).trim(), maxDescription) || shown,
    schema: given,
    parameters: offeredSchema(given),
    effect: effectOf(ownName, config, entry['annotations']),
    mayRepeat: config.mayRepeat === true || config.mayRepeat?.includes(ownName) === true,
    trusted: config.trusted === true,
  };
}

/** Returns the effect of a tool. The user of this machine sets it; the server's hints count only if the user trusts them. */
function effectOf(name: string, { effects = {}, trustHints }: McpServerLimits, hints: unknown): ToolEffect {
  const configured = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (configured !== undefined) return configured;
  if (trustHints !== true || !isObject(hints)) return 'once';
  if (hints['readOnlyHint'] === true) return 'read';
  return hints['idempotentHint'] === true ? 'idempotent' : 'once';
}

/** Returns why a schema cannot be used. A server may have crafted it to keep this process busy. */
async function schemaIssue(schema: JsonObject): Promise<string | undefined> {
  const why = await schemaProblem(schema);
  return why === undefined ? undefined : `its schema is invalid: ${truncate(plainText(why), 300)}`;
}

function formProblem(schema: JsonObject): string | undefined {
  if (!isShallow(schema, maxDepth)) return `its schema is nested more than ${maxDepth} levels deep`;
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchema)
    return `its schema exceeds ${maxSchema / 1024} KiB`;
  const { properties = {}, required = [] } = schema;
  if (
    !isObject(properties) ||
    !Object.values(properties).every((value) => isObject(value) || typeof value === 'boolean')
  )
    return 'its schema has properties that are not schemas';
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string'))
    return 'its schema requires properties whose names are not strings';
  const odd = Object.keys(properties).find((name) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name));
  if (odd !== undefined)
    return `providers do not accept its property ${JSON.stringify(truncate(plainText(odd), 80))}`;
  return foreignReference(schema) ? 'its schema refers to another document' : undefined;
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1));
}

const references: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

function foreignReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) =>
    references.has(key) && typeof item === 'string' ? !item.startsWith('#') : foreignReference(item),
  );
}

/** Keywords that no provider accepts at the top level of a schema. */
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
 * Returns the schema that the model sees. The arguments in its combined parts move to the top level, where providers
 * accept no combining keywords. The original constraints are still checked when the tool is called.
 */
function offeredSchema(schema: JsonObject): JsonObject {
  if (!Object.keys(schema).some((key) => combining.has(key))) return schema;
  const properties: JsonObject = {};
  const required = new Set<Json>();
  collect(schema, true, { root: schema, properties, required, seen: new Set() });
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !combining.has(key)));
  return { ...rest, properties, ...(required.size > 0 && { required: [...required] }) };
}

interface CollectedSchema {
  readonly root: JsonObject;
  readonly properties: JsonObject;
  readonly required: Set<Json>;
  /** Schemas already visited, because references can form a cycle or repeat. */
  readonly seen: Set<unknown>;
}

/** Collects the arguments of a schema. The outermost description counts, and only what every call needs is required. */
function collect(schema: unknown, isAlways: boolean, found: CollectedSchema): void {
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
