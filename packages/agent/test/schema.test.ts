import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/json.ts';
import { canonicalSchema, checkSchema } from '../src/schema.ts';

const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...rest,
});

/** A schema for one argument `a`, values that fit and values that do not. */
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
  ['a pattern of an older kind', { pattern: '^[\\w-.]+$' }, ['a-b.c'], ['a b']],
  ['a pattern that is none', { pattern: '(' }, ['anything'], []],
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
  ['a schema that allows all', true as unknown as JsonObject, [1, null, {}], []],
  ['words it does not know', { shade: 'blue', format: 'date' }, [1, 'x'], []],
];

describe('checkSchema', () => {
  it.each(rules)('P9 holds arguments to %s', (_name, rule, good, bad) => {
    const schema = object({ a: rule }, { required: ['a'] });
    for (const a of good) expect(checkSchema(schema, { a })).toBeUndefined();
    for (const a of bad) expect(checkSchema(schema, { a })).toMatch(/^a/);
  });

  it('P9 names a missing, an unknown and a nested argument by its path', () => {
    const schema = object(
      { a: object({ b: { type: 'string' } }, { required: ['b'] }) },
      { additionalProperties: false },
    );
    expect(checkSchema(schema, { a: {} })).toBe('a.b is missing');
    expect(checkSchema(schema, { a: { b: 1 } })).toBe('a.b must be string, not number');
    expect(checkSchema(schema, { c: 1 })).toBe('c is not a known argument');
    expect(checkSchema(schema, 'x')).toBe('the arguments must be object, not string');
  });

  it('P11 takes no property from the prototype', () => {
    const schema = object({}, { required: ['constructor'], additionalProperties: false });
    expect(checkSchema(schema, {})).toBe('constructor is missing');
    expect(checkSchema(object({}, { additionalProperties: false }), { toString: 1 })).toMatch(/toString/);
  });

  it('follows local references, also to itself', () => {
    const node = object(
      { value: { type: 'number' }, next: { $ref: '#/$defs/no~1de' } },
      { required: ['value'] },
    );
    const schema = { ...object({ list: { $ref: '#/$defs/no~1de' } }), $defs: { 'no/de': node } };
    expect(checkSchema(schema, { list: { value: 1, next: { value: 2 } } })).toBeUndefined();
    expect(checkSchema(schema, { list: { value: 1, next: {} } })).toBe('list.next.value is missing');
    expect(checkSchema({ $ref: '#' }, {})).toMatch(/nested too deeply/);
    expect(checkSchema(object({ a: { $ref: 'https://elsewhere/x' } }), { a: 1 })).toBeUndefined();
  });

  it('P11 checks a deeply nested value against a recursive schema in no time', () => {
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
    expect(checkSchema(schema, { a: deep })).toBeDefined();
    expect(checks).toBeLessThan(50);
  });
});

describe('canonicalSchema', () => {
  it('gives equal bytes for equal schemas and leaves out what providers do not take', () => {
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
