import { describe, expect, test, vi } from 'vitest';
import type { StopReason } from '../../src/interfaces/agent.ts';
import { told } from '../support/assembled.ts';

/** Returns the only call of a response with these arguments. */
function callOf(input: string, stop: StopReason = 'tool_use') {
  const { answer } = told((out) => {
    out.call(0, 'c1', 'look');
    out.input(0, input);
    out.close(0);
    out.end(stop);
  });
  const [call] = answer.toolCalls;
  if (call === undefined) throw new Error('There is no call.');
  return call;
}

describe('call arguments', () => {
  test('are empty if their text is empty or blank', () => {
    expect(callOf('')).toEqual({ id: 'c1', toolName: 'look', arguments: {} });
    expect(callOf(' \n')).toEqual({ id: 'c1', toolName: 'look', arguments: {} });
  });

  test.each([
    ['that are truncated', '{"a":1', /not valid JSON/],
    ['with a trailing comma', '{"a":1,}', /not valid JSON/],
    ['with text after the end', '{"a":1} ok', /not valid JSON/],
    ['that are an array', '[1]', /not a JSON object/],
    ['that are a string', '"x"', /not a JSON object/],
    ['that are null', 'null', /not a JSON object/],
    ['with a forbidden key', '{"__proto__":{"x":1}}', /__proto__/],
    ['with a nested forbidden key', '{"a":[{"b":{"__proto__":1}}]}', /__proto__/],
    ['with an escaped forbidden key', '{"\\u005f_proto__":1}', /__proto__/],
    ['nested 65 deep', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, /deeper than 64/],
    [
      'nested 100,000 deep',
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      /deeper than 64|not valid JSON/,
    ],
    ['over 1 MiB', JSON.stringify({ a: 'x'.repeat(1024 * 1024) }), /larger than 1 MiB/],
    ['over 1 MiB in UTF-8', JSON.stringify({ a: '€'.repeat(400_000) }), /larger than 1 MiB/],
  ])('%s are a problem and never repaired [P9, P11]', (_name, input, problem) => {
    const call = callOf(input);
    expect(call.problem).toMatch(problem);
    expect(call.arguments).toEqual({});
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('at the limits are valid [P11]', () => {
    expect(callOf(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`).problem).toBeUndefined();
    expect(callOf(JSON.stringify({ a: 'x'.repeat(1024 * 1024 - 8) })).problem).toBeUndefined();
    expect(callOf('{"constructor":1,"toString":2}').arguments).toEqual({ constructor: 1, toString: 2 });
  });

  test.each<StopReason>(['max_tokens', 'refusal', 'pause', 'context_full', 'unknown'])(
    'of a complete call are a problem if the response stopped for %s [P9]',
    (stop) => {
      const call = callOf('{"a":1}', stop);
      expect(call.problem).toBeTruthy();
    },
  );

  test('in a response with the stop reason complete change it to tool_use [P4, P9]', () => {
    const { answer } = told((out) => {
      out.call(0, 'c1', 'look');
      out.input(0, '{"a":1}');
      out.end('complete');
    });
    expect([answer.stopReason, answer.toolCalls]).toEqual([
      'tool_use',
      [{ id: 'c1', toolName: 'look', arguments: { a: 1 } }],
    ]);
  });

  test('may be followed by whitespace after the end of the call [P9]', () => {
    const late = (fragment: string) =>
      told((out) => {
        out.call(0, 'c1', 'look');
        out.input(0, '{}');
        out.close(0);
        out.input(0, fragment);
        out.end('tool_use');
      }).answer.toolCalls;
    expect(late(' \n')[0]?.problem).toBeUndefined();
  });

  test('contain no negative zero, which JSON does not have', () => {
    expect(callOf('{"a":-0,"b":[-0.0,{"c":-1e-400}]}').arguments).toStrictEqual({ a: 0, b: [0, { c: 0 }] });
  });

  test('without a tool name are a problem', () => {
    const { answer } = told((out) => {
      out.call(0, '', '');
      out.input(0, '{}');
      out.end('tool_use');
    });
    expect(answer.toolCalls).toEqual([
      { id: 'call_1', toolName: 'unnamed', arguments: {}, problem: 'The call names no tool.' },
    ]);
  });
});

describe('call ids', () => {
  function ids(...given: string[]): string[] {
    const { answer } = told((out) => {
      for (const [at, id] of given.entries()) out.call(at, id, 'look');
      out.end('tool_use');
    });
    return answer.toolCalls.map((call) => call.id);
  }

  test('are generated if missing, numbered if repeated, and otherwise unchanged', () => {
    expect(ids('', 'x', 'x', '', 'odd.id/ü')).toEqual(['call_1', 'x', 'x_2', 'call_4', 'odd.id/ü']);
  });

  test('have no effect if repeated with the same name', () => {
    const { answer } = told((out) => {
      out.call(0, 'c1', 'look');
      out.input(0, '{"a"');
      out.call(0, 'c1', 'look');
      out.call(0, '', '');
      out.input(0, ':1}');
      out.end('tool_use');
    });
    expect(answer.toolCalls).toEqual([{ id: 'c1', toolName: 'look', arguments: { a: 1 } }]);
  });

  test('start another call if they differ at the same key', () => {
    const { answer } = told((out) => {
      out.call('c', 'c1', 'look');
      out.input('c', '{"a":1}');
      out.call('c', 'c2', 'look');
      out.input('c', '{"a":2}');
      out.end('tool_use');
    });
    expect(answer.toolCalls.map(({ id, arguments: args }) => [id, args])).toEqual([
      ['c1', { a: 1 }],
      ['c2', { a: 2 }],
    ]);
  });
});

test('j20 parses a megabyte of arguments in small deltas only once', () => {
  const json = JSON.stringify({ text: 'abcdefghij '.repeat(90_000) });
  const parse = vi.spyOn(JSON, 'parse');
  const { answer } = told((out) => {
    out.call(0, 'c1', 'look');
    for (let at = 0; at < json.length; at += 20) out.input(0, json.slice(at, at + 20));
    out.close(0);
    out.end('tool_use');
  });
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
  expect(answer.toolCalls[0]?.arguments['text']).toHaveLength(990_000);
});
