import type { Draft, Keyword, SchemaNode } from 'json-schema-library';
import { compileSchema, draft2020 } from 'json-schema-library';
import { defined } from '../values/defined.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import { linearPattern } from './linear-pattern.ts';
import { schemaFault, withSubschemas } from './schema-issue.ts';
import { wordsFor } from './schema-keywords.ts';

/** Work that a value may take: so much, and so much for each of its parts, but never more than the last. */
const minSteps = 20_000;
const stepsEach = 100;
const maxSteps = 2_000_000;

/** Work that the schema itself may take. */
const maxParsing = 200_000;

class TooMuch extends Error {}

/** Counts work, so that no schema keeps the process busy. */
class ParsingBudget {
  #left = maxParsing;

  allow(steps: number): void {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuch();
  }
}

interface Compiled {
  readonly node: ReturnType<typeof compileSchema>;
  readonly work: ParsingBudget;
  /** Patterns for which there is no linear matcher. */
  readonly costly: readonly string[];
}

const known = new WeakMap<JsonObject, Compiled>();

/** Checks a value. @returns what is wrong, in words for the model, or nothing. */
export function checkFull(schema: JsonObject, value: unknown): string | undefined {
  try {
    const { node, work } = compiled(schema);
    work.allow(Math.min(minSteps + stepsEach * partsOf(value), maxSteps));
    const [error] = node.validate(value).errors;
    return error === undefined ? undefined : wordsFor(error);
  } catch (error) {
    if (isTooMuch(error)) return `the arguments cannot be checked: ${endless}`;
    throw error;
  }
}

const endless = 'the schema of the tool takes too many steps';

/** Why a schema of another program cannot be used, in words that follow its name; nothing when it can. */
export function problemOf(schema: JsonObject): string | undefined {
  try {
    const fault = schemaFault(schema);
    if (fault !== undefined) return fault;
    const { node, costly } = compiled(schema);
    const [error] = node.schemaErrors ?? [];
    if (error !== undefined) return `${error.data.pointer} is not valid`;
    const [pattern] = costly;
    if (pattern !== undefined) return `its pattern ${JSON.stringify(pattern)} has no matcher of bounded time`;
    return checkFull(schema, {})?.endsWith(endless) === true
      ? 'to check anything against it has no end'
      : undefined;
  } catch (error) {
    if (isTooMuch(error)) return 'it is too large to be read';
    throw error;
  }
}

/** A stack that is full counts too. */
function isTooMuch(error: unknown): boolean {
  return error instanceof TooMuch || error instanceof RangeError;
}

function partsOf(value: unknown): number {
  let parts = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    parts += 1;
    if (typeof next === 'object' && next !== null) for (const one of Object.values(next)) open.push(one);
  }
  return parts;
}

function compiled(schema: JsonObject): Compiled {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const work = new ParsingBudget();
  const costly: string[] = [];
  const keywords = draft2020.keywords.map((keyword) =>
    counted({ ...keyword, ...replacement(keyword, costly) }, work),
  );
  // The words for an error are made here, and only for the one that is shown.
  const silent = Object.fromEntries(Object.keys(draft2020.errors).map((code) => [code, '']));
  const draft: Draft = { ...draft2020, keywords, errors: silent };
  const node = compileSchema(modern(schema), { drafts: [draft], formatAssertion: false });
  const made = { node, work, costly };
  known.set(schema, made);
  return made;
}

/** Tuples of older drafts in the words of this one, and nothing that only the library understands. */
function modern(schema: JsonObject): JsonObject {
  return withSubschemas(schema, (one) => {
    const { errorMessages: _, regexFlags: __, oneOfProperty: ___, $schema: ____, ...rest } = one;
    if (!Array.isArray(rest['items'])) return rest;
    const { items, additionalItems, ...others } = rest;
    return {
      ...others,
      prefixItems: items,
      ...defined({ items: additionalItems }),
    };
  });
}

/** The keyword with its work counted. */
function counted(keyword: Keyword, work: ParsingBudget): Keyword {
  const { parse, validate } = keyword;
  return {
    ...keyword,
    ...(parse !== undefined && {
      parse: (node) => {
        // Within references that lead to themselves the path grows, and the library reads it again each time.
        work.spend(1 + (node.evaluationPath.length >> 6));
        return parse(node);
      },
    }),
    ...(validate !== undefined && {
      validate: (given) => {
        // A dynamic reference looks at the whole way to it.
        work.spend(given.node.schema['$dynamicRef'] === undefined ? 1 : given.path.length);
        return validate(given);
      },
    }),
  };
}

/** Keywords for which the library would take an engine of its own, or too long. */
function replacement({ keyword, parse }: Keyword, costly: string[]): Partial<Keyword> {
  switch (keyword) {
    case 'pattern':
      return {
        parse: (node) => {
          const { pattern } = node.schema;
          if (typeof pattern === 'string') node.pattern = new Pattern(pattern, costly);
        },
      };
    case 'patternProperties':
      return { parse: (node) => parsePatternProperties(node, costly) };
    case 'uniqueItems':
      return {
        validate: ({ node, data, pointer }) => {
          const items = Array.isArray(data) ? data : [];
          const isUnique = new Set(items.map(textOf)).size === items.length;
          if (!isUnique)
            return node.createError('unique-items-error', { pointer, schema: node.schema, value: data });
          return undefined;
        },
      };
    case 'enum':
      return {
        validate: ({ node, data, pointer }) => {
          const values = node.enum ?? [];
          if (choicesOf(values).has(textOf(data))) return undefined;
          return node.createError('enum-error', { pointer, schema: node.schema, value: data, values });
        },
      };
    case '$ref':
      return {
        parse: (node) => {
          const errors = parse?.(node);
          rememberTargets(node);
          return errors;
        },
      };
    default:
      return {};
  }
}

/** A linear matcher in the form that the library knows; a costly one of JavaScript where there is none. */
class Pattern extends RegExp {
  readonly #matches: (text: string) => boolean;

  constructor(source: string, costly: string[]) {
    super('');
    const linear = linearPattern(source);
    if (linear === undefined) costly.push(source);
    const own = linear === undefined ? javaScriptPattern(source) : undefined;
    this.#matches = linear ?? ((text) => own?.test(text) ?? true);
  }

  override test(text: string): boolean {
    return this.#matches(text);
  }
}

/** Patterns of older schemas are valid only without the flag. */
function javaScriptPattern(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Tried again without the flag, then given up.
    }
  }
  return undefined;
}

function parsePatternProperties(node: SchemaNode, costly: string[]): void {
  const { patternProperties } = node.schema;
  if (!isObject(patternProperties) || Object.keys(patternProperties).length === 0) return;
  node.patternProperties = Object.entries(patternProperties).map(([name, schema]) => {
    const way = `/patternProperties/${name}`;
    const inner = isObject(schema) || typeof schema === 'boolean' ? schema : true;
    return {
      name,
      pattern: new Pattern(name, costly),
      node: node.compileSchema(inner, node.evaluationPath + way, node.schemaLocation + way),
    };
  });
}

/** The library reads the schema at the end of a reference anew each time that it comes by. */
function rememberTargets(node: SchemaNode): void {
  const { resolveRef } = node;
  const isFixed = node.schema['$dynamicRef'] === undefined;
  let target: ReturnType<typeof resolveRef>;
  node.resolveRef = (given = {}) => {
    if (!isFixed || node.$ref === undefined) return resolveRef.call(node, given);
    target ??= resolveRef.call(node, { ...given, path: [] });
    if (target !== undefined && 'context' in target)
      given.path?.push({ pointer: given.pointer ?? '#', node: target });
    return target;
  };
}

const choices = new WeakMap<readonly unknown[], ReadonlySet<string>>();

function choicesOf(values: readonly unknown[]): ReadonlySet<string> {
  const before = choices.get(values);
  if (before !== undefined) return before;
  const made = new Set(values.map(textOf));
  choices.set(values, made);
  return made;
}

/** The same text for equal values, whatever the order of their keys. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
