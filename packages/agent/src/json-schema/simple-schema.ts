import { isObject } from '../values/json.ts';

/** A problem with a value: the path to the part that is wrong, and the words for the model. */
export interface Issue {
  readonly path: readonly string[];
  readonly text: string;
}

/** Returns the first problem with a value. */
export type Check = (value: unknown) => Issue | undefined;

/** Returns whether a value satisfies a keyword. */
type Test = (value: unknown) => boolean;

type Schema = Readonly<Record<string, unknown>>;

/** Returns a test for a keyword that limits a measure of some values. The limit comes from the schema. */
function limitTest(
  measure: (value: unknown, limit: number) => number | undefined,
  isWithin: (measured: number, limit: number) => boolean,
): (limit: unknown) => Test | undefined {
  return (limit) => {
    if (typeof limit !== 'number') return undefined;
    return (value) => {
      const measured = measure(value, limit);
      return measured === undefined || isWithin(measured, limit);
    };
  };
}

const isText: Test = (value) => typeof value === 'string';
const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);
const textLength = (value: unknown, limit: number) =>
  typeof value === 'string' ? lengthOf(value, limit) : undefined;
const itemCount = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const isAtLeast = (measured: number, limit: number) => measured >= limit;
const isAtMost = (measured: number, limit: number) => measured <= limit;

/** The tests of the keywords that are about a value without its parts, in the order in which they are applied. */
const tests: Readonly<Record<string, (rule: unknown) => Test | undefined>> = {
  type(rule) {
    // Most arguments are texts.
    if (rule === 'string') return isText;
    if (rule === 'object') return isObject;
    const types: readonly unknown[] = Array.isArray(rule) ? rule : [rule];
    return (value) => types.some((name) => isType(name, value));
  },
  enum: (choices) => (Array.isArray(choices) ? (value) => choices.includes(value) : undefined),
  const: (only) => (value) => value === only,
  minimum: limitTest(numberIn, isAtLeast),
  maximum: limitTest(numberIn, isAtMost),
  exclusiveMinimum: limitTest(numberIn, (value, limit) => value > limit),
  exclusiveMaximum: limitTest(numberIn, (value, limit) => value < limit),
  minLength: limitTest(textLength, isAtLeast),
  maxLength: limitTest(textLength, isAtMost),
  minItems: limitTest(itemCount, isAtLeast),
  maxItems: limitTest(itemCount, isAtMost),
};

/** The keywords that {@link compileSimple} supports. The last group does not constrain the value. */
const simpleKeywords: ReadonlySet<string> = new Set([
  ...Object.keys(tests),
  ...['properties', 'required', 'additionalProperties', 'items'],
  ...[
    '$comment',
    'title',
    'description',
    'default',
    'examples',
    'format',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
]);

const maxDepth = 32;

/** Maximum number of choices, because each value is compared with all of them. */
const maxCompared = 1000;

/** Returns whether {@link compileSimple} supports the schema, as for most tools: without a library, in bounded time. */
export function isSimple(schema: unknown, depth = 0): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema) || depth > maxDepth) return false;
  if (!Object.keys(schema).every((key) => simpleKeywords.has(key))) return false;
  const {
    properties = {},
    additionalProperties = true,
    items = true,
    enum: choices = [],
    const: only,
  } = schema;
  const values = [...(Array.isArray(choices) ? choices : [{}]), only];
  return (
    values.length <= maxCompared &&
    values.every((value) => typeof value !== 'object' || value === null) &&
    isObject(properties) &&
    [...Object.values(properties), additionalProperties, items].every((one) => isSimple(one, depth + 1))
  );
}

/** Compiles a schema of {@link isSimple} to the checks of the keywords that it has, because a tool is called many times. */
export function compileSimple(schema: unknown): Check {
  if (schema === false) return refuse;
  if (!isObject(schema)) return allow;
  const rules = Object.entries(tests).flatMap(([keyword, testFor]) => {
    const rule = schema[keyword];
    const test = rule === undefined ? undefined : testFor(rule);
    return test === undefined ? [] : { keyword, rule, test };
  });
  const checkFields = fieldsCheck(schema);
  const checkItems = itemsCheck(schema);
  return (value) => {
    for (const { keyword, rule, test } of rules)
      if (!test(value)) return issueOf(textFor(keyword, rule, value));
    return checkFields?.(value) ?? checkItems?.(value);
  };
}

const allow: Check = () => undefined;
const refuse: Check = () => issueOf('is not allowed');
const refuseUnknown: Check = () => issueOf('is not a known argument');

function issueOf(text: string): Issue {
  return { path: [], text };
}

/** Returns a problem in words, for the model. */
export function issueText({ path, text }: Issue): string {
  return problem(path.reduce(inside, ''), text);
}

/** Returns the text for a value that does not satisfy a keyword. */
function textFor(keyword: string, rule: unknown, value: unknown): string {
  if (keyword === 'type') return typeText([rule].flat(), typeName(value));
  if (Array.isArray(rule)) return notOneOf(rule);
  return (keyword !== 'const' && limitText(keyword, Number(rule))) || `must be ${JSON.stringify(rule)}`;
}

function fieldsCheck({ properties, required, additionalProperties }: Schema): Check | undefined {
  const checks = new Map(
    Object.entries(isObject(properties) ? properties : {}).map(([name, rule]) => [name, compileSimple(rule)]),
  );
  const names = (Array.isArray(required) ? required : []).filter((name) => typeof name === 'string');
  const others = additionalProperties === false ? refuseUnknown : compileSimple(additionalProperties);
  if (checks.size === 0 && names.length === 0 && others === allow) return undefined;
  return (value) => {
    if (!isObject(value)) return undefined;
    for (const name of names) {
      if (!Object.hasOwn(value, name)) return { path: [name], text: 'is missing' };
    }
    for (const name of Object.keys(value)) {
      const issue = (checks.get(name) ?? others)(value[name]);
      if (issue !== undefined) return below(name, issue);
    }
    return undefined;
  };
}

function itemsCheck({ items }: Schema): Check | undefined {
  const check = compileSimple(items);
  if (check === allow) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    for (const [index, item] of value.entries()) {
      const issue = check(item);
      if (issue !== undefined) return below(String(index), issue);
    }
    return undefined;
  };
}

function below(name: string, { path, text }: Issue): Issue {
  return { path: [name, ...path], text };
}

/** Returns the text for a value of the wrong type. */
export function typeText(types: readonly unknown[], found: string): string {
  return `must be ${types.join(' or ')}, not ${found}`;
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

const maxChoices = 50;

/** Returns the problem with a limited number of choices, because a very long list would not help the model. */
export function notOneOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, maxChoices).map((choice) => JSON.stringify(choice));
  const more = choices.length > maxChoices ? `, … (${choices.length} in all)` : '';
  return `must be one of ${shown.join(', ')}${more}`;
}

/** The relation of a number to the limit in a keyword. */
const relations: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'more than',
  exclusiveMaximum: 'less than',
};

/** The nouns of the keywords that limit a size. */
const nouns: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  Length: ['character', 'characters'],
  Items: ['item', 'items'],
  Properties: ['property', 'properties'],
};

/** Returns the text for a keyword that limits a number or a size; undefined for any other keyword. */
export function limitText(keyword: string, limit: number | string): string | undefined {
  const relation = relations[keyword];
  if (relation !== undefined) return `must be ${relation} ${limit}`;
  const [one, many] = nouns[keyword.slice(3)] ?? [];
  const bound = keyword.startsWith('min') ? 'least' : 'most';
  return one && `must have at ${bound} ${limit} ${String(limit) === '1' ? one : many}`;
}

/** Returns the number of characters, not of code units, which are compared first because there are never fewer. */
function lengthOf(value: string, bound: number): number {
  return value.length < bound || value.length > bound * 2 ? value.length : [...value].length;
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Returns the problem of the argument at a path; an empty path means all arguments. */
export function problem(path: string, text = 'is not allowed'): string {
  return `${path === '' ? 'the arguments' : path} ${text}`;
}
