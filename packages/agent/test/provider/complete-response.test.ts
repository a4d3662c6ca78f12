import { describe, expect, test } from 'vitest';
import { isOwnResponse } from '../../src/interfaces/own-response.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';
import { told } from '../support/assembled.ts';

describe('a complete response [P26]', () => {
  const whole = (out: ResponseSink): void => {
    out.reasoning(0, 'hm \ud83d');
    out.seal(0, { signature: ['s', -0] });
    out.text(1, 'Hello');
    out.call(2, 'c\ud83d', 'look');
    out.input(2, '{"a":[{"b":1}]}');
    out.usage({ inputTokens: 3, outputTokens: 2 });
    out.end('tool_use');
  };

  test('is well-formed and frozen with everything in it, and is not read again', () => {
    const { answer } = told(whole);
    expect(isOwnResponse(answer)).toBe(true);
    const open: unknown[] = [answer];
    for (let value = open.pop(); value !== undefined; value = open.pop()) {
      if (typeof value === 'string') expect(value.isWellFormed(), value).toBe(true);
      if (typeof value !== 'object' || value === null) continue;
      expect(Object.isFrozen(value), JSON.stringify(value)).toBe(true);
      open.push(...Object.values(value));
    }
    expect(answer.message.content[0]).toStrictEqual({
      type: 'reasoning',
      text: 'hm \ufffd',
      seal: { provider: 'plain', data: { signature: ['s', 0] } },
    });
  });

  test('is read again if it is a copy', () => {
    expect(isOwnResponse({ ...told(whole).answer })).toBe(false);
    expect(isOwnResponse(told(whole).answer.message)).toBe(false);
  });

  test.each<[string, (out: ResponseSink) => void]>([
    ['a count that is not a whole number', (out) => out.usage({ outputTokens: 1.5 })],
    ['a count without a bound', (out) => out.usage({ inputTokens: 1e13 })],
    ['a model that is not a text', (out) => out.model(7 as never)],
    ['metadata that is not plain data', (out) => out.seal('s', new Date() as never)],
    ['a stop reason that does not exist', (out) => out.stop('tired' as never)],
  ])('is read again if the wire passed %s', (_what, say) => {
    const { answer } = told((out) => {
      out.text('t', 'x');
      say(out);
      out.end(undefined, 'complete');
    });
    expect(isOwnResponse(answer)).toBe(false);
  });
});
