import { expect, test } from 'vitest';
import { canBeStrict } from '../src/strict.ts';

const text = { type: 'string' };

function shape(
  properties: Record<string, unknown>,
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...rest,
  };
}

test('allows strict mode for a closed object whose properties are all required', () => {
  expect(canBeStrict(shape({ a: text, b: { type: ['string', 'null'] }, c: { enum: [1, 2] } }))).toBe(true);
});

test('checks nested objects, lists, choices and definitions', () => {
  const nested = shape({
    list: { type: 'array', items: shape({ x: text }) },
    either: { anyOf: [text, shape({})] },
  });
  expect(canBeStrict({ ...nested, $defs: { one: shape({ y: text }) } })).toBe(true);
  const open = { type: 'object', properties: {} };
  expect(canBeStrict(shape({ list: { type: 'array', items: open } }))).toBe(false);
  expect(canBeStrict(shape({ either: { anyOf: [text, open] } }))).toBe(false);
  expect(canBeStrict({ ...nested, $defs: { one: open } })).toBe(false);
});

test('disallows strict mode for optional properties, open objects and unsupported keywords', () => {
  expect(canBeStrict(shape({ a: text, b: text }, { required: ['a'] }))).toBe(false);
  expect(canBeStrict(shape({ a: text }, { additionalProperties: true }))).toBe(false);
  expect(canBeStrict(shape({ a: { type: 'string', contentEncoding: 'base64' } }))).toBe(false);
});

test('disallows strict mode if the root is not an object', () => {
  expect([text, { anyOf: [shape({})] }, { type: 'array', items: text }, true, null].map(canBeStrict)).toEqual(
    Array(5).fill(false),
  );
});
