import type { Json, JsonObject, ToolEffect } from '@cobbler/agent';
import type { McpServerLimits } from '@cobbler/agent/node';
import { isObject, schemaProblem } from '@cobbler/agent/provider';
import { capped, plainText } from './plain-text.ts';
import { mcpToolName } from './tool-name.ts';

/** Maximum characters of a description: it is part of every request. */
const maxDescription = 2_000;

/** Maximum bytes of a schema. */
const maxSchema = 32_768;

const maxDepth = 32;

/** A tool of a server that can be offered to a model. */
export interface ListedTool {
  /** Its name on the server. */
  readonly ownName: string;
  /** Its name for the model. */
  readonly name: string;
  readonly description: string;
  /** As the server gives it: arguments are checked against this. */
  readonly schema: JsonObject;
  /** The same in a form that providers take: this is what the model sees. */
  readonly parameters: JsonObject;
  readonly effect: ToolEffect;
  /** True if repeated identical calls with identical results are normal. */
  readonly mayRepeat: boolean;
}

/** A tool that is not offered, and why. */
export interface LeftOut {
  readonly name: string;
  readonly why: string;
}

/** Validates one entry of a server's list. Nothing in it is trusted: one invalid schema would break every request. */
export async function listedTool(
  server: string,
  config: McpServerLimits,
  entry: unknown,
): Promise<ListedTool | LeftOut | undefined> {
  if (!isObject(entry) || typeof entry['name'] !== 'string' || entry['name'] === '')
    return { name: '?', why: 'it has no name' };
  const ownName = entry['name'];
  if (config.tools !== undefined && !config.tools.includes(ownName)) return undefined;
  const shown = capped(plainText(ownName), 80);
  if (isObject(entry['execution']) && entry['execution']['taskSupport'] === 'required')
    return { name: shown, why: 'it only works as a background task' };
  const schema = entry['inputSchema'];
  if (!isObject(schema) || schema['type'] !== 'object')
    return { name: shown, why: 'its schema does not describe an object' };
  const given = schema as JsonObject;
  const problem = formProblem(given) ?? (await unusable(given));
  if (problem !== undefined) return { name: shown, why: problem };
  const description = typeof entry['description'] === 'string' ? entry['description'] : '';
  return {
    ownName,
    name: mcpToolName(server, ownName),
    description: capped(plainText(description).trim(), maxDescription) || shown,
    schema: given,
    parameters: offeredSchema(given),
    effect: effectOf(ownName, config, entry['annotations']),
    mayRepeat: config.mayRepeat === true || config.mayRepeat?.includes(ownName) === true,
  };
}

/** The user of this machine sets a tool's effect. The server's own hints count only if the user says so. */
function effectOf(name: string, { effects = {}, trustHints }: McpServerLimits, hints: unknown): ToolEffect {
  const said = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (said !== undefined) return said;
  if (trustHints !== true || !isObject(hints)) return 'once';
  if (hints['readOnlyHint'] === true) return 'read';
  return hints['idempotentHint'] === true ? 'idempotent' : 'once';
}

/** A server may have made it to keep this process busy. */
async function unusable(schema: JsonObject): Promise<string | undefined> {
  const why = await schemaProblem(schema);
  return why === undefined ? undefined : `its schema is invalid: ${capped(plainText(why), 300)}`;
}

function formProblem(schema: JsonObject): string | undefined {
  if (!isShallow(schema, maxDepth)) return `its schema is nested more than ${maxDepth} levels deep`;
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchema)
    return `its schema exceeds ${maxSchema / 1024} KiB`;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Object.values(properties).every(isSchema))
    return 'its schema has properties that are not schemas';
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string'))
    return 'its schema has required properties that are not names';
  const odd = Object.keys(properties).find((name) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name));
  if (odd !== undefined)
    return `providers do not accept its property ${JSON.stringify(capped(plainText(odd), 80))}`;
  return foreignReference(schema) ? 'its schema refers to another document' : undefined;
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean';
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
function offeredSchema(schema: JsonObject): JsonObject {
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
