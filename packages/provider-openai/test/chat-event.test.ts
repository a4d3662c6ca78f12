import { describe, expect, test } from 'vitest';
import { chatEvent } from '../src/chat/event.ts';
import { callsIn, record, textIn } from './recorder.ts';

type Delta = Record<string, unknown>;

function chunk(delta: Delta, finish: string | null = null, rest: Record<string, unknown> = {}): unknown {
  return { model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...rest };
}

function callChunk(...pieces: readonly Record<string, unknown>[]): unknown {
  return chunk({ tool_calls: pieces });
}

/** Records a response of these chunks with a regular end. */
function ended(chunks: readonly unknown[], finish: string = 'tool_calls') {
  return record(chatEvent, [...chunks, chunk({}, finish), '[DONE]']);
}

describe('a response of OpenAI', () => {
  test('names a call in its first chunk only and identifies calls by index [S0.7]', () => {
    const recording = ended([
      callChunk({ index: 0, id: 'call_a', type: 'function', function: { name: 'one', arguments: '' } }),
      callChunk({ index: 1, id: 'call_b', type: 'function', function: { name: 'two', arguments: '' } }),
      callChunk({ index: 0, function: { arguments: '{"x"' } }, { index: 1, function: { arguments: '{}' } }),
      callChunk({ index: 0, function: { arguments: ':1}' } }),
    ]);
    expect(callsIn(recording)).toEqual([
      { id: 'call_a', name: 'one', input: '{"x":1}' },
      { id: 'call_b', name: 'two', input: '{}' },
    ]);
    expect(recording.end).toBe('tool_use');
  });

  test('includes cached and reasoning tokens in the usage, which follows the finish reason [S0.8]', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 12 },
    };
    const recording = record(chatEvent, [
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      { choices: [], usage },
    ]);
    expect(recording.usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 64,
      cacheWriteTokens: 8,
      reasoningTokens: 12,
    });
    expect(recording.end).toBe('complete');
  });

  test('maps each finish reason to a stop reason, and an unknown one to unknown [P4]', () => {
    const stops = ['stop', 'length', 'content_filter', 'tool_calls', 'function_call', 'paused_for_tea'].map(
      (finish) => ended([chunk({ content: 'x' })], finish).end,
    );
    expect(stops).toEqual(['complete', 'max_tokens', 'refusal', 'tool_use', 'unknown', 'unknown']);
  });

  test('emits a refusal as text and ends with refusal although the finish reason is stop', () => {
    const recording = ended([chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' })], 'stop');
    expect(textIn(recording, 'text')).toBe('I will not.');
    expect(recording.end).toBe('refusal');
  });
});

describe('the end of a response [P1]', () => {
  test('is not [DONE] without a finish reason', () => {
    expect(record(chatEvent, [chunk({ content: 'Half' }), '[DONE]']).end).toBeUndefined();
  });

  test('is the finish reason, because some servers send nothing after it', () => {
    expect(record(chatEvent, [chunk({ content: 'All' }), chunk({}, 'stop')]).end).toBe('complete');
  });

  test('is not usage before the finish reason', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    expect(record(chatEvent, [chunk({ content: 'Half' }, null, { usage })]).end).toBeUndefined();
  });

  test('is the first of two finish reasons, and content after it makes the response invalid [P27]', () => {
    const recording = record(chatEvent, [
      chunk({ content: 'All' }),
      chunk({}, 'stop'),
      chunk({ content: 'ghost' }, 'length'),
      '[DONE]',
    ]);
    expect(textIn(recording, 'text')).toBe('All');
    expect([recording.end, recording.late]).toEqual(['complete', true]);
  });

  test('may be repeated, but not with another meaning [P27]', () => {
    const late = (...reasons: string[]) =>
      record(chatEvent, [chunk({ content: 'All' }), ...reasons.map((reason) => chunk({}, reason))]).late;
    expect([late('stop', 'stop'), late('stop', 'length')]).toEqual([undefined, true]);
  });
});

describe('a response of a compatible server', () => {
  test('ends with tool_use if it contains calls, although the finish reason is stop', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    expect(ended([whole], 'stop').end).toBe('tool_use');
  });

  test('ends with max_tokens at the token limit, even if it contains calls [P9]', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    expect(ended([whole], 'length').end).toBe('max_tokens');
  });

  test('identifies calls without an index by id', () => {
    const recording = ended([
      callChunk({ id: 'a', function: { name: 'one', arguments: '{"n":' } }),
      callChunk({ id: 'a', function: { arguments: '1}' } }),
      callChunk({ id: 'b', function: { name: 'one', arguments: '{"n":2}' } }),
    ]);
    expect(callsIn(recording)).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
      { id: 'b', name: 'one', input: '{"n":2}' },
    ]);
  });

  test('reads complete calls without index and id as separate calls', () => {
    const recording = ended([
      callChunk(
        { function: { name: 'one', arguments: '{}' } },
        { function: { name: 'one', arguments: '{"n":2}' } },
      ),
    ]);
    expect(callsIn(recording)).toEqual([
      { id: '', name: 'one', input: '{}' },
      { id: '', name: 'one', input: '{"n":2}' },
    ]);
  });

  test('continues the last call with a chunk that has no index, id or name', () => {
    const recording = ended([
      callChunk({ id: 'a', function: { name: 'one', arguments: '{"n"' } }),
      callChunk({ function: { arguments: ':1}' } }),
    ]);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('distinguishes calls that all have index 0 by id', () => {
    const recording = ended([
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{"n":1}' } }),
      callChunk({ index: 0, id: 'b', function: { name: 'one', arguments: '{"n":2}' } }),
    ]);
    expect(callsIn(recording)).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
      { id: 'b', name: 'one', input: '{"n":2}' },
    ]);
  });

  test('distinguishes calls that all have index 0 and no id by name', () => {
    const recording = ended([
      callChunk({ index: 0, function: { name: 'one', arguments: '{}' } }),
      callChunk({ index: 0, function: { name: 'two', arguments: '{}' } }),
    ]);
    expect(callsIn(recording).map(({ name }) => name)).toEqual(['one', 'two']);
  });

  test('reads chunks that repeat id and name as one call', () => {
    const piece = (input: string) =>
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: input } });
    expect(callsIn(ended([piece('{"n"'), piece(':'), piece('1}')]))).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
    ]);
  });

  test('keeps arguments that arrive before the name', () => {
    const recording = ended([
      callChunk({ index: 0, id: 'a', function: { arguments: '{"n"' } }),
      callChunk({ index: 0, function: { name: 'one', arguments: ':1}' } }),
    ]);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('emits a call that never gets a name without one', () => {
    expect(callsIn(ended([callChunk({ index: 0, id: 'a', function: { arguments: '{}' } })]))).toEqual([
      { id: 'a', name: '', input: '{}' },
    ]);
  });

  test('converts arguments sent as an object to JSON', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: { n: 1 } } });
    expect(callsIn(ended([whole]))).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('reads reasoning from either of its fields, and once if both contain it', () => {
    const recording = ended(
      [
        chunk({ reasoning_content: 'a' }),
        chunk({ reasoning: 'b' }),
        chunk({ reasoning_content: 'c', reasoning: 'c' }),
        chunk({ content: 'Done.' }),
      ],
      'stop',
    );
    expect(textIn(recording, 'reasoning')).toBe('abc');
    expect(recording.blocks.map(({ seal }) => seal)).toEqual([undefined, undefined]);
  });

  test('reports an error object in the stream with its kind and message', () => {
    const faults = [
      { message: 'Slow down, please try again in 1.5s.', type: 'tokens', code: 'rate_limit_exceeded' },
      { message: 'Upstream is full.', code: 503 },
      { message: 'Bad gateway.', code: 502 },
      { message: 'Out of memory', type: 'internal_server_error' },
    ].map((error) => record(chatEvent, [chunk({ content: 'x' }), { error }]).fault);
    expect(faults).toEqual([
      { kind: 'rate_limit', message: 'Slow down, please try again in 1.5s.', retryAfterMs: 1500 },
      { kind: 'busy', message: 'Upstream is full.' },
      { kind: 'agent', message: 'Bad gateway.' },
      { kind: 'agent', message: 'Out of memory' },
    ]);
  });

  test('ignores an error field with the value null', () => {
    expect(record(chatEvent, [chunk({ content: 'x' }, null, { error: null })]).fault).toBeUndefined();
  });

  test('shares no state with another response', () => {
    const first = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    record(chatEvent, [first]);
    expect(ended([chunk({ content: 'x' })], 'stop').end).toBe('complete');
  });
});

describe('unusual forms of content [P1]', () => {
  const message = (content: unknown, rest: object = {}) => ({
    choices: [{ index: 0, message: { role: 'assistant', content, ...rest }, finish_reason: 'stop' }],
  });
  const one = { id: 'a', function: { name: 'one', arguments: '{"n":1}' } };

  test('reads a list of parts as text and reasoning [P4]', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    const recording = ended(
      [
        chunk({ content: [thinking] }),
        chunk({
          content: [
            { type: 'text', text: 'Hel' },
            { type: 'reference', reference_ids: [1] },
          ],
        }),
        chunk({ content: [{ type: 'output_text', text: 'lo' }, '.'] }),
        chunk({ content: { type: 'text', text: ' More.' } }),
      ],
      'stop',
    );
    expect([textIn(recording, 'reasoning'), textIn(recording, 'text')]).toEqual(['Hm.', 'Hello. More.']);
    expect([recording.end, recording.fault]).toEqual(['complete', undefined]);
  });

  test('reports a part of an unknown type', () => {
    expect(record(chatEvent, [chunk({ content: [{ type: 'hologram', depth: 3 }] })]).ignored).toContain(
      'hologram',
    );
  });

  test('adds a refusal to the content, and reads a refusal part as a refusal', () => {
    const both = ended([chunk({ content: 'No: ', refusal: 'I will not.' })], 'stop');
    expect([textIn(both, 'text'), both.end]).toEqual(['No: I will not.', 'refusal']);
    const part = ended([chunk({ content: [{ type: 'refusal', refusal: 'I will not.' }] })], 'stop');
    expect([textIn(part, 'text'), part.end]).toEqual(['I will not.', 'refusal']);
  });

  test('reads a complete message without deltas [P4, P9]', () => {
    const recording = record(chatEvent, [message('Hello.', { tool_calls: [one], reasoning: 'Hm.' })]);
    expect([textIn(recording, 'reasoning'), textIn(recording, 'text')]).toEqual(['Hm.', 'Hello.']);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
    expect(recording.end).toBe('tool_use');
  });

  test('adds what is missing in the deltas from a complete message, and rejects one that differs', () => {
    const texts = ['Hello.', 'Hel', ''].map((said) => {
      const deltas = said === '' ? [] : [chunk({ content: said }), callChunk({ index: 0, ...one })];
      return record(chatEvent, [...deltas, message('Hello.', { tool_calls: [one] })]);
    });
    expect(texts.map((recording) => textIn(recording, 'text'))).toEqual(Array(3).fill('Hello.'));
    expect(texts.map((recording) => callsIn(recording).length)).toEqual([1, 1, 1]);
    const other = record(chatEvent, [chunk({ content: 'Goodbye.' }), message('Hello.')]);
    expect(other.fault?.kind).toBe('broken');
    expect(
      record(chatEvent, [callChunk({ index: 0, ...one }), message('', { tool_calls: [one, one] })]).fault
        ?.kind,
    ).toBe('broken');
  });

  test('reads function_call, the predecessor of tool_calls [P4, P9]', () => {
    const recording = ended(
      [
        chunk({ function_call: { name: 'one', arguments: '{"n"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
      ],
      'function_call',
    );
    expect(callsIn(recording)).toEqual([{ id: '', name: 'one', input: '{"n":1}' }]);
    expect(recording.end).toBe('tool_use');
  });
});
