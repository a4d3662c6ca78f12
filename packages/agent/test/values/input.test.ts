import { describe, expect, it } from 'vitest';
import { flag, mapOf, optional, read, text } from '../../src/values/input.ts';

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
