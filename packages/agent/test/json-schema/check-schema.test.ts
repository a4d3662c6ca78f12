import { describe, expect, it } from 'vitest';
import { canonicalSchema } from '../../src/interfaces/standard-schema.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { checkSchema } from '../../src/json-schema/check-schema.ts';
import { schemaProblem } from '../../src/json-schema/schema-problem.ts';
import type { JsonObject } from '../../src/values/json.ts';

const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...rest,
});

/** Schemas for one argument `a`, with values that match and values that do not. */
const rules: readonly (readonly [string, JsonObject, readonly unknown[], readonly unknown[]])[] = [
  ['type string', { type: 'string' }, ['', 'x'], [1, null, [], {}, true]],
  ['type integer', { type: 'integer' }, [1, 1.0, -3], [1.5, '1', Number.NaN, Number.POSITIVE_INFINITY]],
  ['type number', { type: 'number' }, [1.5], ['1', Number.NaN]],
  ['type array', { type: 'array' }, [[]], [{}, 'x']],
  ['type object', { type: 'object' }, [{}], [[], null]],
  ['type null', { type: 'null' }, [null], [0, '']],
  ['several types', { type: ['string', 'null'] }, ['x', null], [1]],
  ['enum', { enum: ['a', 1, { b: 2 }] }, ['a', 1, { b: 2 }], ['b', '1']],
  ['const', { const: 5 }, [5], ['5']],
  ['minimum and maximum', { minimum: 1, maximum: 3 }, [1, 3], [0, 4]],
  ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  [
    'lengths, in characters',
    { minLength: 2, maxLength: 3 },
    ['ab', '🧵🧵', '🧵🧵🧵'],
    ['a', '🧵', '🧵🧵🧵🧵', 'abcd'],
  ],
  ['pattern', { pattern: '^\\p{L}+$' }, ['äb'], ['a1']],
  ['a pattern that is valid only without the flag u', { pattern: '^[\\w-.]+$' }, ['a-b.c'], ['a b']],
  ['items', { items: { type: 'number' }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], ['1'], [1, 2, 3]]],
  [
    'prefixItems',
    { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    [['a', 1]],
    [[1], ['a', 'b']],
  ],
  ['allOf', { allOf: [{ type: 'string' }, { minLength: 2 }] }, ['ab'], ['a', 1]],
  ['anyOf', { anyOf: [{ type: 'string' }, { type: 'number' }] }, ['a', 1], [true]],
  ['oneOf', { oneOf: [{ type: 'number' }, { minimum: 5 }] }, [1], [7]],
  ['not', { not: { type: 'string' } }, [1], ['a']],
  ['a schema that allows nothing', false as unknown as JsonObject, [], [1, null]],
  ['a schema that allows everything', true as unknown as JsonObject, [1, null, {}], []],
  ['unknown keywords', { shade: 'blue', format: 'date' }, [1, 'x'], []],
];

describe('checkSchema', () => {
  it.each(rules)('checks arguments against %s [P9]', async (_name, rule, good, bad) => {
    const schema = object({ a: rule }, { required: ['a'] });
    for (const a of good) expect(await checkSchema(schema, { a })).toBeUndefined();
    for (const a of bad) expect(await checkSchema(schema, { a })).toMatch(/^a[ .]/);
  });

  it('names a missing, an unknown and a nested argument by its path [P9]', async () => {
    const schema = object(
      { a: object({ b: { type: 'string' } }, { required: ['b'] }) },
      { additionalProperties: false },
    );
    expect(await checkSchema(schema, { a: {} })).toBe('a.b is missing');
    expect(await checkSchema(schema, { a: { b: 1 } })).toBe('a.b must be string, not number');
    expect(await checkSchema(schema, { c: 1 })).toBe('c is not a known argument');
    expect(await checkSchema(schema, 'x')).toBe('the arguments must be object, not string');
  });

  it('ignores properties of the prototype [P11]', async () => {
    const schema = object({}, { required: ['constructor'], additionalProperties: false });
    expect(await checkSchema(schema, {})).toBe('constructor is missing');
    expect(await checkSchema(object({}, { additionalProperties: false }), { toString: 1 })).toMatch(
      /toString/,
    );
  });

  it('follows local references, also recursive ones', async () => {
    const node = object(
      { value: { type: 'number' }, next: { $ref: '#/$defs/no~1de' } },
      { required: ['value'] },
    );
    const schema = { ...object({ list: { $ref: '#/$defs/no~1de' } }), $defs: { 'no/de': node } };
    expect(await checkSchema(schema, { list: { value: 1, next: { value: 2 } } })).toBeUndefined();
    expect(await checkSchema(schema, { list: { value: 1, next: {} } })).toBe('list.next.value is missing');
    expect(await checkSchema(object({ a: { $ref: 'https://elsewhere/x' } }), { a: 1 })).toBe(
      'the arguments cannot be validated: the tool\'s schema refers to "https://elsewhere/x", which does not exist',
    );
  });

  it('quickly validates a deeply nested value against a recursive schema [P11]', async () => {
    const tree = { anyOf: [{ type: 'array', items: { $ref: '#/$defs/tree' } }, { type: 'string' }] };
    const schema = { ...object({ a: { $ref: '#/$defs/tree' } }), $defs: { tree } };
    let checks = 0;
    let deep: unknown = new Proxy([7], {
      get: (target, key) => {
        checks += 1;
        return Reflect.get(target, key);
      },
    });
    for (let level = 0; level < 15; level += 1) deep = [deep];
    expect(await checkSchema(schema, { a: deep })).toBeDefined();
    expect(checks).toBeLessThan(50);
  });
});

describe('names the argument and its problem [P9]', () => {
  it.each<[string, JsonObject, unknown, string]>([
    ['a pattern', { pattern: '^x' }, 'y', 'a must match ^x'],
    ['a missing dependency', { dependentRequired: { x: ['y'] } }, { x: 1 }, 'a.y is missing'],
    [
      'a repeated item',
      { uniqueItems: true },
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      'a must not contain duplicate items',
    ],
    ['an object that is not an enum value', { enum: [{ b: 1, c: 2 }] }, {}, 'a must be one of {"b":1,"c":2}'],
    [
      'a value that matches two oneOf schemas',
      { oneOf: [{ type: 'string' }, { minLength: 1 }] },
      's',
      'a must match only one of the allowed forms',
    ],
    ['a wrong multiple', { multipleOf: 2 }, 3, 'a must be a multiple of 2'],
    ['too few properties', { minProperties: 1 }, {}, 'a must have at least 1 property'],
    [
      'a property name',
      { propertyNames: { maxLength: 2 } },
      { long: 1 },
      'a.long has a name that is not allowed',
    ],
    ['an unevaluated property', { unevaluatedProperties: false }, { b: 1 }, 'a.b is not a known argument'],
    [
      'too few matching items',
      { contains: { const: 4 } },
      [1],
      'a must contain more items that match {"const":4}',
    ],
    ['a false else branch', { if: { type: 'number' }, else: false }, 'x', 'a is not allowed'],
    [
      'a tuple of an older draft',
      { items: [{ type: 'string' }], additionalItems: false },
      ['x', 1],
      'a has too many items',
    ],
  ])('%s', async (_name, rule, a, words) => {
    expect(await checkSchema(object({ a: rule }), { a })).toBe(words);
  });

  it('accepts an enum value with its keys in a different order', async () => {
    expect(
      await checkSchema(object({ a: { enum: [{ b: 1, c: 2 }] } }), { a: { c: 2, b: 1 } }),
    ).toBeUndefined();
  });
});

/** Returns a schema whose references double at each level, to 2^26 in total. */
function doubling(): JsonObject {
  const $defs: JsonObject = { d26: { type: 'string' } };
  for (let level = 0; level < 26; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, next] };
  }
  return { ...object({ a: { $ref: '#/$defs/d0' } }), $defs };
}

describe('a schema crafted to keep the process busy', () => {
  it('matches a pattern in linear time [P2]', async () => {
    const schema = object({ a: { pattern: '^(a+)+$' } });
    expect(await checkSchema(schema, { a: `${'a'.repeat(50_000)}!` })).toBe('a must match ^(a+)+$');
    expect(await checkSchema(schema, { a: 'aaaa' })).toBeUndefined();
    const named = { ...object({}), patternProperties: { '^(a+)+$': false } };
    expect(await checkSchema(named, { [`${'a'.repeat(5000)}!`]: 1 })).toBeUndefined();
  });

  it.each<[string, JsonObject, unknown]>([
    ['that refers to itself', { $ref: '#' }, {}],
    [
      'whose references form a cycle',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
      {},
    ],
    ['whose dynamic reference forms a cycle', { $dynamicAnchor: 'x', allOf: [{ $dynamicRef: '#x' }] }, {}],
    ['whose references double at each level', doubling(), { a: 1 }],
  ])('fails after a maximum number of steps: one %s [P2]', async (_name, schema, value) => {
    expect(await checkSchema(schema, value)).toMatch(/takes too many steps/);
  });

  it('compares many enum values and many unique items in one pass [P2]', async () => {
    const choices = Array.from({ length: 20_000 }, (_, index) => `choice ${index}`);
    const schema = object({ a: { type: 'array', items: { enum: choices } }, b: { uniqueItems: true } });
    const found = await checkSchema(schema, { a: choices, b: choices });
    expect(found).toBeUndefined();
    expect((await checkSchema(schema, { a: ['x'] }))?.length).toBeLessThan(1500);
  });

  it('accepts nothing if its keywords contradict each other [P9]', async () => {
    const schema = object({ a: { allOf: [{ type: 'string' }, { type: 'number' }] } });
    for (const a of ['x', 1]) expect(await checkSchema(schema, { a })).toMatch(/^a must be/);
    expect(await schemaProblem(schema)).toBeUndefined();
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'a pattern with a backreference',
      object({ a: { pattern: '(a+)\\1' } }),
      /cannot be matched in linear time/,
    ],
    [
      'too many repetitions',
      object({ a: { pattern: '(.{1,900}){1,900}' } }),
      /cannot be matched in linear time/,
    ],
    ['a self-reference', { type: 'object', $ref: '#' }, /takes too many steps/],
    ['an unknown type', object({ a: { type: 'strin' } }), /#\/properties\/a\/type is "strin"/],
    [
      'an invalid pattern',
      object({ a: { pattern: '(' } }),
      /is "\(", which is not a valid regular expression/,
    ],
    ['an invalid property schema', object({ a: 7 }), /#\/properties\/a is 7, which is not a schema/],
    ['an invalid list of schemas', object({ a: { allOf: {} } }), /which is not a list of schemas/],
    ['an invalid limit', object({ a: { minimum: true } }), /minimum is true, which is not a number/],
  ])('from another program is rejected with %s [P9]', async (_name, schema, why) => {
    expect(await schemaProblem(schema)).toMatch(why);
  });

  it('from the program itself is rejected where the tool is defined [P9]', () => {
    const define = (rule: JsonObject) => () =>
      defineTool({ name: 'one', description: '', parameters: object({ a: rule }), execute: () => '' });
    expect(define({ type: 'strin' })).toThrow(
      'Correct the JSON Schema: #/properties/a/type is "strin", which is not a JSON Schema type.',
    );
    expect(define({ pattern: '(?<=a)b' })).not.toThrow();
  });

  it('from the program itself can contain a pattern with lookaround', async () => {
    const schema = object({ a: { pattern: '(?<=a)b' } });
    expect(await checkSchema(schema, { a: 'ab' })).toBeUndefined();
    expect(await checkSchema(schema, { a: 'b' })).toBe('a must match (?<=a)b');
  });
});

describe('canonicalSchema', () => {
  it('gives equal bytes for equal schemas and removes what providers reject', () => {
    const zod = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        b: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        a: { maximum: 5, type: 'number' },
      },
    };
    expect(JSON.stringify(canonicalSchema(zod))).toBe(
      '{"properties":{"a":{"maximum":5,"type":"number"},"b":{"type":"integer"}},"type":"object"}',
    );
  });

  it('keeps properties and values that only look like keywords', () => {
    const schema = object(
      { $schema: { type: 'string' } },
      { enum: [{ $schema: 'x', maximum: Number.MAX_SAFE_INTEGER }] },
    );
    expect(canonicalSchema(schema)).toEqual(schema);
  });
});
