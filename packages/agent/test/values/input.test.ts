import { describe, expect, it } from 'vitest';
import { AgentError } from '../../src/values/errors.ts';
import type { Reader } from '../../src/values/input.ts';
import { data, flag, listOf, mapOf, optional, read, record, text } from '../../src/values/input.ts';

describe('mapOf', () => {
  it('returns a frozen copy of the fields that have a value [P26]', () => {
    const fields = read({ a: 'x', b: undefined }, mapOf(optional(text)));
    expect(fields).toEqual({ a: 'x' });
    expect(Object.isFrozen(fields)).toBe(true);
  });

  it('names the invalid field [P26]', () => {
    expect(() => read({ a: true, b: 7 }, mapOf(flag), 'env')).toThrow('env.b is invalid: it is 7.');
    expect(() => read({ a: {} }, mapOf(mapOf(text)), 'env')).not.toThrow();
    expect(() => read([], mapOf(text), 'env')).toThrow('env is invalid: it is an array. Use an object.');
  });
});

describe('read', () => {
  const thrown = new AgentError({ kind: 'network', code: 'own', message: 'An error of a getter.' });
  const given = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw thrown;
    },
  });
  const list = Object.defineProperty([1], 0, {
    get: () => {
      throw thrown;
    },
  });

  it.each<[string, unknown, Reader<unknown>, string]>([
    ['a field', given, record({ a: text }), 'options.a'],
    ['a field of any name', given, mapOf(text), 'options.a'],
    ['an item', list, listOf(text), 'options[0]'],
    ['data', given, data, 'options'],
  ])('reports the place of %s whose getter throws, even an AgentError [P26]', (_, value, reader, path) => {
    expect(() => read(value, reader)).toThrow(`${path} is invalid: it is an`);
  });
});
