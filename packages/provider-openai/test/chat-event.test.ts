import { describe, expect, test } from 'vitest';
import { chatEvent, chatIgnored } from '../src/chat/event.ts';
import { callsIn, record, textIn } from './recorder.ts';

type Delta = Record<string, unknown>;

function chunk(delta: Delta, finish: string | null = null, rest: Record<string, unknown> = {}): unknown {
  return { model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...rest };
}

function callChunk(...pieces: readonly Record<string, unknown>[]): unknown {
  return chunk({ tool_calls: pieces });
}

/** An answer of these chunks, ended well. */
function ended(chunks: readonly unknown[], finish: string = 'tool_calls') {
  return record(chatEvent, [...chunks, chunk({}, finish), '[DONE]']);
}

describe('an answer of OpenAI', () => {
  test('the call is named in its first piece and told apart by index [S0.7]', () => {
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

  test('the usage comes after the finish reason and counts cached and reasoning tokens as part of the whole [S0.8]', () => {
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

  test('each finish reason has its stop reason, and one of the future is unknown [P4]', () => {
    const stops = ['stop', 'length', 'content_filter', 'tool_calls', 'function_call', 'paused_for_tea'].map(
      (finish) => ended([chunk({ content: 'x' })], finish).end,
    );
    expect(stops).toEqual(['complete', 'max_tokens', 'refusal', 'tool_use', 'unknown', 'unknown']);
  });

  test('a refusal is text and ends as refusal although the finish reason says stop', () => {
    const recording = ended([chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' })], 'stop');
    expect(textIn(recording, 'text')).toBe('I will not.');
    expect(recording.end).toBe('refusal');
  });
});

describe('the end of an answer [P1]', () => {
  test('a stream without a finish reason is not ended by [DONE]', () => {
    expect(record(chatEvent, [chunk({ content: 'Half' }), '[DONE]']).end).toBeUndefined();
  });

  test('the finish reason is the end, since some servers send nothing after it', () => {
    expect(record(chatEvent, [chunk({ content: 'All' }), chunk({}, 'stop')]).end).toBe('complete');
  });

  test('usage told along the way ends nothing', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    expect(record(chatEvent, [chunk({ content: 'Half' }, null, { usage })]).end).toBeUndefined();
  });

  test('a finish reason sent twice is taken once, and content after it makes the response invalid [P27]', () => {
    const recording = record(chatEvent, [
      chunk({ content: 'All' }),
      chunk({}, 'stop'),
      chunk({ content: 'ghost' }, 'length'),
      '[DONE]',
    ]);
    expect(textIn(recording, 'text')).toBe('All');
    expect([recording.end, recording.late]).toEqual(['complete', true]);
  });
});

describe('an answer of a compatible server', () => {
  test('calls end it as tool_use although the finish reason says stop', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    expect(ended([whole], 'stop').end).toBe('tool_use');
  });

  test('calls cut by the token limit do not end it as tool_use [P9]', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    expect(ended([whole], 'length').end).toBe('max_tokens');
  });

  test('calls without index are told apart by id', () => {
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

  test('whole calls with neither index nor id are a call each', () => {
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

  test('a piece with neither index, id nor name goes on with the last call', () => {
    const recording = ended([
      callChunk({ id: 'a', function: { name: 'one', arguments: '{"n"' } }),
      callChunk({ function: { arguments: ':1}' } }),
    ]);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('different calls that all have the index 0 are told apart by id', () => {
    const recording = ended([
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{"n":1}' } }),
      callChunk({ index: 0, id: 'b', function: { name: 'one', arguments: '{"n":2}' } }),
    ]);
    expect(callsIn(recording)).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
      { id: 'b', name: 'one', input: '{"n":2}' },
    ]);
  });

  test('different calls that all have the index 0 and no id are told apart by name', () => {
    const recording = ended([
      callChunk({ index: 0, function: { name: 'one', arguments: '{}' } }),
      callChunk({ index: 0, function: { name: 'two', arguments: '{}' } }),
    ]);
    expect(callsIn(recording).map(({ name }) => name)).toEqual(['one', 'two']);
  });

  test('id and name repeated in every piece are one call', () => {
    const piece = (input: string) =>
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: input } });
    expect(callsIn(ended([piece('{"n"'), piece(':'), piece('1}')]))).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
    ]);
  });

  test('arguments that come before the name are kept for it', () => {
    const recording = ended([
      callChunk({ index: 0, id: 'a', function: { arguments: '{"n"' } }),
      callChunk({ index: 0, function: { name: 'one', arguments: ':1}' } }),
    ]);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('a call that is never named is told without a name', () => {
    expect(callsIn(ended([callChunk({ index: 0, id: 'a', function: { arguments: '{}' } })]))).toEqual([
      { id: 'a', name: '', input: '{}' },
    ]);
  });

  test('arguments given as an object count as their JSON', () => {
    const whole = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: { n: 1 } } });
    expect(callsIn(ended([whole]))).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
  });

  test('reasoning is shown under either of its names and once when it has both', () => {
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

  test('an error object in the stream is a failure with its cause', () => {
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

  test('an error that is null is none', () => {
    expect(record(chatEvent, [chunk({ content: 'x' }, null, { error: null })]).fault).toBeUndefined();
  });

  test('two answers at once are kept apart', () => {
    const first = callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } });
    record(chatEvent, [first]);
    expect(ended([chunk({ content: 'x' })], 'stop').end).toBe('complete');
  });
});

describe('what a server says in another place [P1]', () => {
  const message = (content: unknown, rest: object = {}) => ({
    choices: [{ index: 0, message: { role: 'assistant', content, ...rest }, finish_reason: 'stop' }],
  });
  const one = { id: 'a', function: { name: 'one', arguments: '{"n":1}' } };

  test('content as a list of parts is text and reasoning [P4]', () => {
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

  test('content of parts that cannot be read makes the answer garbled', () => {
    expect(record(chatEvent, [chunk({ content: [{ type: 'hologram', depth: 3 }] })]).ignored).toContain(
      'hologram',
    );
  });

  test('a refusal beside content is said too, and one as a part is a refusal', () => {
    const both = ended([chunk({ content: 'No: ', refusal: 'I will not.' })], 'stop');
    expect([textIn(both, 'text'), both.end]).toEqual(['No: I will not.', 'refusal']);
    const part = ended([chunk({ content: [{ type: 'refusal', refusal: 'I will not.' }] })], 'stop');
    expect([textIn(part, 'text'), part.end]).toEqual(['I will not.', 'refusal']);
  });

  test('a whole message is the answer where no delta came [P4, P9]', () => {
    const recording = record(chatEvent, [message('Hello.', { tool_calls: [one], reasoning: 'Hm.' })]);
    expect([textIn(recording, 'reasoning'), textIn(recording, 'text')]).toEqual(['Hm.', 'Hello.']);
    expect(callsIn(recording)).toEqual([{ id: 'a', name: 'one', input: '{"n":1}' }]);
    expect(recording.end).toBe('tool_use');
  });

  test('a whole message behind its deltas says what they did not, and differs in nothing', () => {
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

  test('the call of the API before tool_calls is a call [P4, P9]', () => {
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

describe('nothing is lost in silence [P27]', () => {
  const call = (rest: object) => callChunk({ index: 0, id: 'a', function: { name: 'one' }, ...rest });

  test.each([
    ['audio', chunk({ audio: { data: 'UklGRg==' } })],
    ['images', chunk({ images: [{ type: 'image_url' }] })],
    [
      'a second choice',
      {
        choices: [
          { index: 0, delta: {} },
          { index: 1, delta: { content: 'x' } },
        ],
      },
    ],
    ['a second choice', { choices: [{ index: 1, delta: { content: 'x' } }] }],
    ['text beside a message', { choices: [{ index: 0, text: 'Hello.' }] }],
    ['a call of type custom', call({ type: 'custom', custom: { name: 'one', input: 'x' } })],
    ['tool_calls without a list', chunk({ tool_calls: { 0: { id: 'a' } } })],
  ])('%s is named and not on the list', (kind, payload) => {
    expect(record(chatEvent, [payload]).ignored).toContain(kind);
    expect(Object.hasOwn(chatIgnored, kind)).toBe(false);
  });

  test('a call that has lost its first chunk, and calls out of order, are named', () => {
    expect(ended([callChunk({ index: 0, function: { arguments: '{}' } })]).ignored).toContain(
      'a call without id and name',
    );
    const calls = [1, 0].map((index) => callChunk({ index, id: `c${index}`, function: { name: 'one' } }));
    expect(ended(calls).ignored).toContain('calls out of order');
  });

  test('an object without choices and usage is left to the check of unknown data', () => {
    const recording = record(chatEvent, [{ object: 'chat.completion.hologram', data: [1], model: 'm' }]);
    expect(recording).toEqual({ blocks: [], ignored: [], usage: {} });
  });

  test.each([
    ['reasoning', { role: 'assistant', content: 'Hi.', reasoning: 'Other.' }],
    [
      'arguments',
      {
        role: 'assistant',
        content: 'Hi.',
        tool_calls: [{ function: { name: 'one', arguments: '{"n":2}' } }],
      },
    ],
    ['whitespace', { role: 'assistant', content: 'H i.' }],
  ])('a complete message whose %s differs from the chunks is invalid', (_what, message) => {
    const chunks = [
      chunk({ reasoning: 'Hm.' }),
      chunk({ content: 'Hi.' }),
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{"n":1}' } }),
    ];
    expect(record(chatEvent, [...chunks, { choices: [{ index: 0, message }] }]).fault?.kind).toBe('broken');
  });
});
