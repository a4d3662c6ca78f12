import type { Draft, JsonError, Keyword, SchemaNode } from 'json-schema-library';
import { compileSchema, draft2020 } from 'json-schema-library';
import { defined } from '../values/defined.ts';
import type { JsonObject } from '../values/json.ts';
import { clip, isObject, sortedKeys } from '../values/json.ts';
import { linearPattern } from './linear-pattern.ts';
import { javaScriptPattern, withSubschemas } from './schema-issue.ts';
import { limitText, notOneOf, problem, typeText } from './simple-schema.ts';

/** Number of steps to validate a value: a base, plus a number for each of its parts, up to a maximum. */
const minSteps = 20_000;
const stepsEach = 100;
const maxSteps = 2_000_000;

/** Maximum number of steps to compile a schema. */
const maxParsing = 200_000;

class TooMuch extends Error {}

/** Counts steps, so that no schema can keep the process busy. */
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

/** A schema that is ready to validate values. */
export interface CompiledSchema {
  readonly node: ReturnType<typeof compileSchema>;
  readonly work: ParsingBudget;
  /** Patterns without a linear-time matcher. */
  readonly costly: readonly string[];
}

const known = new WeakMap<JsonObject, CompiledSchema>();

/** Validates a value. @returns the problem, written for the model, or undefined. */
export function checkFull(schema: JsonObject, value: unknown): string | undefined {
  try {
    const { node, work } = compileFull(schema);
    work.allow(Math.min(minSteps + stepsEach * partsOf(value), maxSteps));
    const [error] = node.validate(value).errors;
    return error === undefined ? undefined : wordsFor(error);
  } catch (error) {
    if (isTooMuch(error)) return `the arguments cannot be validated: ${endless}`;
    throw error;
  }
}

/** The end of the problem with a schema whose validation takes too many steps. */
export const endless = "checking them against the tool's schema takes too many steps";

/** Returns whether an error means that the limit was exceeded. A stack overflow counts too. */
export function isTooMuch(error: unknown): boolean {
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

/** Compiles a schema. */
export function compileFull(schema: JsonObject): CompiledSchema {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const work = new ParsingBudget();
  const costly: string[] = [];
  const keywords = draft2020.keywords.map((keyword) =>
    countSteps({ ...keyword, ...replacement(keyword, costly) }, work),
  );
  // Error messages are created by `wordsFor`, and only for the error that is shown.
  const silent = Object.fromEntries(Object.keys(draft2020.errors).map((code) => [code, '']));
  const draft: Draft = { ...draft2020, keywords, errors: silent };
  const node = compileSchema(modern(schema), { drafts: [draft], formatAssertion: false });
  const made = { node, work, costly };
  known.set(schema, made);
  return made;
}

/** Converts tuples of older drafts to this draft, and removes keywords that only the library knows. */
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

/** Wraps a keyword so that its steps are counted. */
function countSteps(keyword: Keyword, work: ParsingBudget): Keyword {
  const { parse, validate } = keyword;
  return {
    ...keyword,
    ...(parse !== undefined && {
      parse: (node) => {
        // Within recursive references the path grows, and the library parses it again each time.
        work.spend(1 + (node.evaluationPath.length >> 6));
        return parse(node);
      },
    }),
    ...(validate !== undefined && {
      validate: (given) => {
        // A dynamic reference searches the complete path that leads to it.
        work.spend(given.node.schema['$dynamicRef'] === undefined ? 1 : given.path.length);
        return validate(given);
      },
    }),
  };
}

/** Returns the replacement of a keyword that the library would evaluate too slowly or with ordinary regular expressions. */
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
          if (new Set(items.map(textOf)).size === items.length) return undefined;
          return node.createError('unique-items-error', { pointer, schema: node.schema, value: data });
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

/** A linear-time matcher in the form that the library expects, or a JavaScript pattern if there is none. */
class Pattern extends RegExp {
  readonly #matches: (text: string) => boolean;

  constructor(source: string, costly: string[]) {
    super('');
    const linear = linearPattern(source);
    if (linear === undefined) costly.push(source);
    const own = javaScriptPattern(source);
    this.#matches = linear ?? ((text) => own?.test(text) ?? true);
  }

  override test(text: string): boolean {
    return this.#matches(text);
  }
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

/** Caches the target of a reference, which the library would otherwise resolve on each use. */
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

/** Returns the same text for equal values, regardless of the order of their keys. */
function textOf(value: unknown): string {
  return JSON.stringify(sortedKeys(value));
}

const maxCharacters = 500;

/** Returns the problem with the arguments, for the model, in the same words as the simple check. */
function wordsFor({ code, data }: JsonError): string {
  const path = data.pointer.replace(/^#\/?/, '').replaceAll('/', '.');
  const inside = (name: string) => (path === '' ? String(data[name]) : `${path}.${String(data[name])}`);
  switch (code) {
    case 'required-property-error':
      return problem(inside('key'), 'is missing');
    case 'missing-dependency-error':
      return problem(inside('missingProperty'), 'is missing');
    case 'invalid-property-name-error':
      return problem(inside('property'), 'has a name that is not allowed');
    case 'ref-error':
      return problem(
        '',
        `cannot be validated: the tool's schema refers to ${shown(data['ref'])}, which does not exist`,
      );
    default:
      return problem(path, textFor(String(code), data));
  }
}

/** Returns the text for an error about the value at its own path; undefined if there is nothing to add. */
function textFor(code: string, data: JsonError['data']): string | undefined {
  const schema = (name: string) => shown(data.schema[name]);
  switch (code) {
    case 'type-error':
      return typeText([data.schema['type']].flat(), String(data['received']));
    case 'no-additional-properties-error':
    case 'unevaluated-property-error':
      return 'is not a known argument';
    case 'enum-error':
      return notOneOf(Array.isArray(data['values']) ? data['values'] : []);
    case 'const-error':
      return `must be ${schema('const')}`;
    case 'invalid-data-error':
      return data.schema['items'] === false ? 'has too many items' : undefined;
    case 'pattern-error':
      return `must match ${clip(String(data['pattern']), maxCharacters)}`;
    case 'unique-items-error':
      return 'must not contain duplicate items';
    case 'any-of-error':
    case 'one-of-error':
      return 'must match one of the allowed forms';
    case 'multiple-one-of-error':
      return 'must match only one of the allowed forms';
    case 'not-error':
      return 'must not match the excluded schema';
    case 'multiple-of-error':
      return `must be a multiple of ${schema('multipleOf')}`;
    case 'contains-any-error':
    case 'contains-error':
      return `must contain an item that matches ${schema('contains')}`;
    case 'contains-min-error':
      return `must contain more items that match ${schema('contains')}`;
    case 'contains-max-error':
      return `must contain fewer items that match ${schema('contains')}`;
    default: {
      // The other codes are the names of keywords: `min-length-error`.
      const keyword = code.replace(/-error$/, '').replace(/-\w/g, (letter) => letter.slice(1).toUpperCase());
      return limitText(keyword, schema(keyword));
    }
  }
}

function shown(value: unknown): string {
  return clip(JSON.stringify(value) ?? '', maxCharacters);
}
