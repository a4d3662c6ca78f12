import { describe, expect, test } from 'vitest';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';
import { firstAttempt, told } from '../support/assembled.ts';

const plain = { provider: 'plain' };

describe('blocks', () => {
  test('keep the order in which they first appear, however they interleave', () => {
    const { answer } = told((out) => {
      out.text('b', '');
      out.call(0, 'c1', 'look');
      out.reasoning('r', 'think');
      out.input(0, '{"a":');
      out.text('b', 'Hel');
      out.reasoning('r', 'ing');
      out.input(0, '1}');
      out.text('b', 'lo');
      out.end('tool_use');
    });
    expect(answer.message.content).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'tool_call', id: 'c1', toolName: 'look', arguments: { a: 1 } },
      { type: 'reasoning', text: 'thinking' },
    ]);
    expect(answer.content).toBe('Hello');
  });

  test('emit each delta immediately, and the complete block once when it closes', () => {
    const { events } = told((out) => {
      out.text(0, 'Hel');
      out.text(0, 'lo');
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

  test('receive deltas without a type by key; without a block there, the delta is text', () => {
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
    expect(answer.message.content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'tool_call', id: 'c1', toolName: 'look', arguments: { a: 1 } },
      { type: 'text', text: 'Hello' },
      { type: 'reasoning', text: 'Well.', seal: { provider, data: 'sealed' } },
    ]);
  });

  test('of an ignored kind are dropped and do not count as progress; an unlisted kind is an error [P2, P27]', () => {
    const assembly = new Assembly({ ...plain, ignored: { tune: 'background music' } });
    assembly.ignore('tune');
    expect([assembly.steps, assembly.drops, assembly.fault]).toEqual([0, 1, undefined]);
    assembly.ignore('song');
    expect(assembly.fault).toMatchObject({ kind: 'broken', message: expect.stringContaining('"song"') });
    const other = new Assembly(plain);
    other.ignore('constructor');
    expect(other.fault).toMatchObject({ kind: 'broken' });
  });

  test('text after the end of a named block starts another block', () => {
    const { answer, events } = told((out) => {
      out.text('t', 'a');
      out.close('t');
      out.text('t', 'b');
      out.end('complete');
    });
    expect(answer.content).toBe('ab');
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', index: 0, text: 'a' },
      { type: 'text', index: 1, text: 'b' },
    ]);
  });

  test('without content leave no part, and closing an unknown block does nothing', () => {
    const { answer, events } = told((out) => {
      out.text(0, '');
      out.reasoning(1, '');
      out.close(0);
      out.close('nowhere');
      out.end('complete');
    });
    expect(answer.message.content).toEqual([]);
    expect(events).toEqual([]);
  });

  test('provider metadata is attached to reasoning and calls, and is otherwise a separate part', () => {
    const { answer } = told((out) => {
      out.reasoning(0, 'hm');
      out.close(0);
      out.seal(0, 'late');
      out.seal(1, { early: true });
      out.call(1, 'c1', 'look');
      out.reasoning(2, '');
      out.seal(2, 'only');
      out.seal('s', 'alone');
      out.close('s');
      out.seal('s', 'again');
      out.text(3, 'x');
      out.seal(3, 'beside');
      out.text(3, 'y');
      out.end('tool_use');
    });
    expect(answer.message.content).toEqual([
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

  test('contain no lone surrogates in text and arguments; provider metadata is unchanged [P12]', () => {
    const { answer } = told((out) => {
      out.text(0, 'a\ud83d');
      out.text(0, '\ude00b\ud83d');
      out.call(1, 'c1', 'look');
      out.input(1, '{"k\\ud800":["\\udc00",{"ok":"\\ud83d\\ude00"}]}');
      out.seal(1, 's\ud800');
      out.end('tool_use');
    });
    expect(answer.content).toBe('a😀b\ufffd');
    expect(answer.toolCalls[0]?.arguments).toEqual({ 'k\ufffd': ['\ufffd', { ok: '😀' }] });
    expect(answer.message.content[1]).toMatchObject({ seal: { data: 's\ud800' } });
  });

  test('are not affected by a callback that throws', () => {
    const assembly = new Assembly(plain, () => {
      throw new Error('watcher');
    });
    assembly.text(0, 'Hello');
    assembly.end('complete');
    expect(assembly.response(firstAttempt).content).toBe('Hello');
  });

  test('are not changed after the end; only usage still counts [P14]', () => {
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
    expect(answer.message.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(answer.usage).toEqual({ inputTokens: 5, outputTokens: 2 });
  });
});

describe('the stop reason', () => {
  const stopOf = (say: (out: ResponseSink) => void) => told(say).answer.stopReason;

  test('is the one given at the end, else the one given before, else unknown [P4]', () => {
    expect(stopOf((out) => out.end('refusal'))).toBe('refusal');
    expect(
      stopOf((out) => {
        out.stop('max_tokens');
        out.end();
      }),
    ).toBe('max_tokens');
    expect(stopOf((out) => out.end(undefined, 'later'))).toBe('unknown');
  });
});

describe('usage', () => {
  test('uses the latest count and ignores invalid values [P14]', () => {
    const { answer } = told((out) => {
      out.usage({ inputTokens: 100, outputTokens: 1 });
      out.usage({ outputTokens: 40 });
      out.usage({ outputTokens: 50, cacheReadTokens: 7 });
      out.usage({ outputTokens: Number.NaN, inputTokens: null as never, reasoningTokens: -1 });
      out.end('complete');
    });
    expect(answer.usage).toEqual({ inputTokens: 100, outputTokens: 50, cacheReadTokens: 7 });
  });

  test('estimates the output of an incomplete response unless a higher count was reported', () => {
    const assembly = new Assembly(plain);
    assembly.usage({ inputTokens: 100, outputTokens: 1 });
    assembly.text(0, 'x'.repeat(400));
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 100, outputTokens: 100, estimated: true });
    assembly.usage({ outputTokens: 150 });
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 100, outputTokens: 150 });
  });

  test('estimates the input of an incomplete response if the service reports it only at the end', () => {
    const assembly = new Assembly(plain);
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 0, outputTokens: 0 });
    assembly.text(0, 'word');
    expect(assembly.usedSoFar(4000)).toEqual({ inputTokens: 1000, outputTokens: 1, estimated: true });
  });
});
