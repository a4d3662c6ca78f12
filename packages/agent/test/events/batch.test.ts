import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameBatch, sameJson } from '../../src/events/batch.ts';

describe('sameJson', () => {
  it('treats a value and its copy as equal, regardless of the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameJson(value, reversed(structuredClone(value)))).toBe(true);
      }),
    );
  });

  it('distinguishes what JSON distinguishes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const text = (value: unknown) => JSON.stringify(sorted(value));
        expect(sameJson(one, other)).toBe(text(one) === text(other));
      }),
    );
    expect(sameJson({ a: 1 }, { a: 1, b: undefined })).toBe(false);
    expect(sameJson([], {})).toBe(false);
    expect(sameJson({ toString: 1 }, {})).toBe(false);
  });

  it('does not overflow the stack, however deep the nesting [P11]', () => {
    const deep = () => JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(sameJson(deep(), deep())).toBe(false);
  });
});

describe('sameBatch', () => {
  const call = (id: string, args: Record<string, unknown> = { a: 1, b: 2 }) =>
    ({ type: 'tool_call', id, toolName: 'tool', arguments: args }) as const;
  const result = (toolCallId: string, text = 'done') =>
    ({ role: 'tool_result', toolCallId, content: [{ type: 'text', text }] }) as const;
  const batch = (id: string) => ({ calls: [call(id)], results: [result(id)] });

  it('compares tools, arguments and results', () => {
    expect(sameBatch(batch('a'), batch('b'))).toBe(true);
    expect(sameBatch(batch('a'), { ...batch('b'), calls: [call('b', { b: 2, a: 1 })] })).toBe(true);
    const others = [
      { calls: [call('b', { a: 2 })], results: [result('b')] },
      { calls: [{ ...call('b'), toolName: 'other' }], results: [result('b')] },
      { calls: [call('b')], results: [result('b', 'else')] },
      { calls: [call('b')], results: [{ ...result('b'), isError: true }] },
      { calls: [call('b'), call('c')], results: [result('b'), result('c')] },
    ];
    for (const other of others) {
      expect(sameBatch(batch('a'), other)).toBe(false);
      expect(sameBatch(other, batch('a'))).toBe(false);
    }
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]).concat([['object', true]]);
}
