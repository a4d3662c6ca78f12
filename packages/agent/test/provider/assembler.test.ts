import { describe, expect, test } from 'vitest';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';
import { told } from '../support/assembled.ts';

describe('blocks', () => {
  test('stand in the order of their first mention, however they interleave', () => {
    const { answer } = told((out) => {
      out.text('b', '');
      out.call(7, 'c1', 'look');
      out.reasoning('r', 'think');
      out.input(7, '{"a":');
      out.text('b', 'Hel');
      out.reasoning('r', 'ing');
      out.input(7, '1}');
      out.text('b', 'lo');
      out.end('tool_use');
    });
    expect(answer.parts).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'tool_call', id: 'c1', toolName: 'look', arguments: { a: 1 } },
      { type: 'reasoning', text: 'thinking' },
    ]);
    expect(answer.text).toBe('Hello');
  });

  test('deltas are told as they come and each block once when it closes', () => {
    const { events } = told((out) => {
      out.text(0, 'Hel');
      out.text(0, 'lo');
      out.close(0);
      out.close(0);
      out.call(1, 'c1', 'look');
      out.input(1, '{}');
      out.end('tool_use');
    });
    expect(events).toEqual([
      { type: 'text_delta', index: 0, text: 'Hel' },
      { type: 'text_delta', index: 0, text: 'lo' },
      { type: 'text', index: 0, text: 'Hello' },
      { type: 'tool_input_delta', index: 1, json: '{}' },
      { type: 'tool_call', index: 1, call: { id: 'c1', toolName: 'look', arguments: {} } },
    ]);
  });

  test('a piece that does not say what it is of goes to the block at its key, and where none is, it is text', () => {
    const { answer } = told((out) => {
      out.reasoning('r', '');
      out.call('c', 'c1', 'look');
      out.delta('r', 'Hm.');
      out.delta('c', '{"a":1}');
      out.delta('t', 'Hello');
      out.seal('s', 'sealed');
      out.delta('s', 'Well.');
      out.end('tool_use');
    });
    const provider = 'plain';
    expect(answer.parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool_call', id: 'c1', toolName: 'look', arguments: { a: 1 } },
      { type: 'text', text: 'Hello' },
      { type: 'reasoning', text: 'Well.', seal: { provider, data: 'sealed' } },
    ]);
  });

  test('a block of an unknown kind is no progress [P2]', () => {
    const assembly = new Assembly('plain');
    assembly.skip(1);
    assembly.delta(1, 'a dream');
    assembly.seal(1, 'sealed');
    assembly.close(1);
    expect(assembly.steps).toBe(0);
  });

  test('what is added to a block of an unknown kind is left out, until its key is of one that is known', () => {
    const { answer } = told((out) => {
      out.skip(1);
      out.delta(1, 'a dream');
      out.seal(1, 'sealed');
      out.close(1);
      out.text(0, 'Awake.');
      out.reasoning(1, 'Hm');
      out.delta(1, '.');
      out.end('complete');
    });
    expect(answer.parts).toEqual([
      { type: 'text', text: 'Awake.' },
      { type: 'reasoning', text: 'Hm.' },
    ]);
  });

  test('text after its block was closed begins another block', () => {
    const { answer, events } = told((out) => {
      out.text(0, 'a');
      out.close(0);
      out.text(0, 'b');
      out.end('complete');
    });
    expect(answer.text).toBe('ab');
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', index: 0, text: 'a' },
      { type: 'text', index: 1, text: 'b' },
    ]);
  });

  test('empty blocks leave no part and closing what is not there does nothing', () => {
    const { answer, events } = told((out) => {
      out.text(0, '');
      out.reasoning(1, '');
      out.close(0);
      out.close('nowhere');
      out.end('complete');
    });
    expect(answer.parts).toEqual([]);
    expect(events).toEqual([]);
  });

  test('seals attach to reasoning and calls, before or after them, and stand alone otherwise', () => {
    const { answer } = told((out) => {
      out.reasoning(0, 'hm');
      out.close(0);
      out.seal(0, 'late');
      out.seal(1, { early: true });
      out.call(1, 'c1', 'look');
      out.reasoning(2, '');
      out.seal(2, 'only');
      out.seal(3, 'alone');
      out.close(3);
      out.seal(3, 'again');
      out.text(4, 'x');
      out.seal(4, 'beside');
      out.text(4, 'y');
      out.end('tool_use');
    });
    expect(answer.parts).toEqual([
      { type: 'reasoning', text: 'hm', seal: { provider: 'plain', data: 'late' } },
      {
        type: 'tool_call',
        id: 'c1',
        toolName: 'look',
        arguments: {},
        seal: { provider: 'plain', data: { early: true } },
      },
      { type: 'reasoning', text: '', seal: { provider: 'plain', data: 'only' } },
      { type: 'opaque', seal: { provider: 'plain', data: 'alone' } },
      { type: 'opaque', seal: { provider: 'plain', data: 'again' } },
      { type: 'text', text: 'xy' },
      { type: 'opaque', seal: { provider: 'plain', data: 'beside' } },
    ]);
  });

  test('half characters are replaced, in text and in arguments, and seals stay as they are [P12]', () => {
    const { answer } = told((out) => {
      out.text(0, 'a\ud83d');
      out.text(0, '\ude00b\ud83d');
      out.call(1, 'c1', 'look');
      out.input(1, '{"k\\ud800":["\\udc00",{"ok":"\\ud83d\\ude00"}]}');
      out.seal(1, 's\ud800');
      out.end('tool_use');
    });
    expect(answer.text).toBe('a😀b\ufffd');
    expect(answer.calls[0]?.arguments).toEqual({ 'k\ufffd': ['\ufffd', { ok: '😀' }] });
    expect(answer.parts[1]).toMatchObject({ seal: { data: 's\ud800' } });
  });

  test('a watcher that throws changes nothing', () => {
    const assembly = new Assembly('plain', () => {
      throw new Error('watcher');
    });
    assembly.text(0, 'Hello');
    assembly.end('complete');
    expect(assembly.answer().text).toBe('Hello');
  });

  test('after the end only usage is taken', () => {
    const { answer } = told((out) => {
      out.text(0, 'a');
      out.model('plain-1');
      out.end('complete');
      out.text(0, 'b');
      out.seal(1, 'late');
      out.call(2, 'c', 'late');
      out.input(2, '{}');
      out.close(0);
      out.stop('refusal');
      out.end('refusal');
      out.fail({ kind: 'busy', message: 'late' });
      out.usage({ inputTokens: 5, outputTokens: 2 });
      out.model('plain-2');
    });
    expect(answer).toMatchObject({ stopReason: 'complete', model: 'plain-1' });
    expect(answer.parts).toEqual([{ type: 'text', text: 'a' }]);
    expect(answer.usage).toEqual({ inputTokens: 5, outputTokens: 2 });
  });
});

describe('the stop reason', () => {
  const stopOf = (say: (out: ResponseSink) => void) => told(say).answer.stopReason;

  test('is the one given at the end, else the one noted, else unknown [P4]', () => {
    expect(stopOf((out) => out.end('refusal'))).toBe('refusal');
    expect(
      stopOf((out) => {
        out.stop('max_tokens');
        out.end();
      }),
    ).toBe('max_tokens');
    expect(stopOf((out) => out.end())).toBe('unknown');
  });

  test('a stop for calls that are not there is complete with text and unknown without [P4]', () => {
    expect(
      stopOf((out) => {
        out.text(0, 'Hello');
        out.end('tool_use');
      }),
    ).toBe('complete');
    expect(stopOf((out) => out.end('tool_use'))).toBe('unknown');
  });
});

describe('usage', () => {
  test('a later count replaces an earlier one and odd values are passed over [P14]', () => {
    const { answer } = told((out) => {
      out.usage({ inputTokens: 100, outputTokens: 1 });
      out.usage({ outputTokens: 40 });
      out.usage({ outputTokens: 50, cacheReadTokens: 7 });
      out.usage({ outputTokens: Number.NaN, inputTokens: null as never, reasoningTokens: -1 });
      out.end('complete');
    });
    expect(answer.usage).toEqual({ inputTokens: 100, outputTokens: 50, cacheReadTokens: 7 });
  });

  test('what arrived of a broken answer is reckoned where nothing better was reported', () => {
    const assembly = new Assembly('plain');
    assembly.usage({ inputTokens: 100, outputTokens: 1 });
    assembly.text(0, 'x'.repeat(400));
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 100, outputTokens: 100, estimated: true });
    assembly.usage({ outputTokens: 150 });
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 100, outputTokens: 150 });
  });

  test('the input of a broken answer is reckoned where the service counts it only at the end', () => {
    const assembly = new Assembly('plain');
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 0, outputTokens: 0 });
    assembly.text(0, 'word');
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 1000, outputTokens: 1, estimated: true });
  });
});

test.each([
  ['a text', (out: ResponseSink) => out.text(0, 7 as never)],
  ['reasoning', (out: ResponseSink) => out.reasoning(0, null as never)],
  ['a piece of arguments', (out: ResponseSink) => out.input(0, {} as never)],
  ['the id of a call', (out: ResponseSink) => out.call(0, [] as never, 'look')],
  ['the message of a failure', (out: ResponseSink) => out.fail({ message: 7 as never })],
  ['the name of a call', (out: ResponseSink) => out.call(0, 'c1', undefined as never)],
])('%s that is no text is not taken', (_what, say) => {
  expect(() => say(new Assembly('plain'))).toThrow(TypeError);
});
