import { describe, expect, test } from 'vitest';
import { responsesEvent } from '../src/responses/event.ts';
import { callsIn, record, textIn } from './recorder.ts';

function added(output_index: number, item: Record<string, unknown>): unknown {
  return { type: 'response.output_item.added', output_index, item };
}

function done(output_index: number, item: Record<string, unknown>): unknown {
  return { type: 'response.output_item.done', output_index, item };
}

function completed(response: Record<string, unknown> = {}): unknown {
  return { type: 'response.completed', response: { status: 'completed', output: [], ...response } };
}

const thought = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'gAAAAA==',
};

describe('items', () => {
  test('seals the complete reasoning item of the last event, including unknown fields', () => {
    const whole = { ...thought, summary: [], content: [], novel: { deep: [1] } };
    const recording = record(responsesEvent, [
      added(0, { ...whole, encrypted_content: 'gAAA-incomplete' }),
      done(0, { ...whole, status: 'completed' }),
      completed(),
    ]);
    expect(recording.blocks).toEqual([{ at: '0', kind: 'reasoning', text: '', seal: whole, closed: true }]);
  });

  test('shows reasoning that the service would not accept back, without sealing it', () => {
    const { encrypted_content: _, ...bare } = thought;
    const [block] = record(responsesEvent, [done(0, bare), completed()]).blocks;
    expect(block).toEqual({ at: '0', kind: 'reasoning', text: 'Hm.', closed: true });
  });

  test('seals the plain reasoning of an open model', () => {
    const open = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    };
    const [block] = record(responsesEvent, [done(0, open), completed()]).blocks;
    expect(block).toMatchObject({ text: 'Hm.', seal: open });
  });

  test('separates the parts of a summary with a blank line', () => {
    const part = (summary_index: number) => ({
      type: 'response.reasoning_summary_part.added',
      output_index: 0,
      summary_index,
    });
    const delta = (text: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      delta: text,
    });
    const recording = record(responsesEvent, [
      added(0, thought),
      part(0),
      delta('One.'),
      part(1),
      delta('Two.'),
    ]);
    expect(textIn(recording, 'reasoning')).toBe('One.\n\nTwo.');
  });

  test('stores the phase of a message before its text', () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [], phase: 'commentary' };
    const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'I look.' };
    const { blocks } = record(responsesEvent, [added(0, item), delta, done(0, item)]);
    expect(blocks).toEqual([
      { at: '0:head', kind: 'opaque', text: '', seal: { type: 'message', id: 'msg_1', phase: 'commentary' } },
      { at: '0', kind: 'text', text: 'I look.', closed: true },
    ]);
  });

  test('stores the id of a message only after reasoning', () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
    const delta = { type: 'response.output_text.delta', output_index: 1, delta: 'Hello.' };
    const alone = record(responsesEvent, [added(1, item), delta, done(1, item)]);
    const behind = record(responsesEvent, [added(0, thought), done(0, thought), added(1, item), delta]);
    expect(alone.blocks.map(({ kind }) => kind)).toEqual(['text']);
    expect(behind.blocks.map(({ kind, seal }) => [kind, seal])).toEqual([
      ['reasoning', thought],
      ['opaque', { type: 'message', id: 'msg_1' }],
      ['text', undefined],
    ]);
  });

  test('stores an item of an unknown type unchanged', () => {
    const novel = { id: 'cmp_1', type: 'compaction', encrypted_content: 'x' };
    expect(record(responsesEvent, [added(0, novel), done(0, novel)]).blocks).toEqual([
      { at: '0', kind: 'opaque', text: '', seal: novel },
    ]);
  });

  test('reports an item without a type, because no service would accept it back [P12, P27]', () => {
    const kindless = [undefined, null, 0, {}].map((type, index) => done(index, { id: 'x_1', type }));
    const { blocks, ignored } = record(responsesEvent, [...kindless, completed()]);
    expect([blocks, ignored]).toEqual([[], Array(4).fill('an item without a type')]);
  });

  test('reads complete items from a server that sends no deltas', () => {
    const recording = record(responsesEvent, [
      done(0, { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }),
      done(1, { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{"n":1}' }),
      completed(),
    ]);
    expect(textIn(recording, 'text')).toBe('Hello.');
    expect(callsIn(recording)).toEqual([{ id: 'call_1', name: 'one', input: '{"n":1}' }]);
    expect(recording.end).toBe('tool_use');
  });

  test('identifies an item by its id if the server omits the index', () => {
    const recording = record(responsesEvent, [
      { type: 'response.output_item.added', item: { id: 'msg_1', type: 'message', content: [] } },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hello.' },
    ]);
    expect(recording.blocks).toEqual([{ at: 'msg_1', kind: 'text', text: 'Hello.' }]);
  });
});

describe('the end of a response [P4]', () => {
  test('is tool_use if there was a call, even if the closing event does not repeat it', () => {
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'one', arguments: '' };
    expect(record(responsesEvent, [added(0, call), completed()]).end).toBe('tool_use');
    expect(record(responsesEvent, [completed()]).end).toBe('complete');
  });

  test('is refusal if the model refused, and the refusal is the text', () => {
    const delta = { type: 'response.refusal.delta', output_index: 0, delta: 'I will not.' };
    const recording = record(responsesEvent, [delta, completed()]);
    expect(textIn(recording, 'text')).toBe('I will not.');
    expect(recording.end).toBe('refusal');
  });

  test('is refusal if only the complete item contains the refusal', () => {
    const item = { id: 'msg_1', type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] };
    expect(record(responsesEvent, [done(0, item), completed()])).toMatchObject({ end: 'refusal' });
  });

  test('contains the reason for an incomplete response, and unknown for an unknown reason', () => {
    const ends = ['max_output_tokens', 'content_filter', 'steered', 'constructor', undefined].map(
      (reason) => {
        const response = {
          status: 'incomplete',
          incomplete_details: reason === undefined ? null : { reason },
        };
        return record(responsesEvent, [{ type: 'response.incomplete', response }]).end;
      },
    );
    expect(ends).toEqual(['max_tokens', 'refusal', 'unknown', 'unknown', 'unknown']);
  });

  test('includes cached and reasoning tokens in the total usage [S0.8]', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 64, cache_write_tokens: 8 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 12 },
      total_tokens: 120,
    };
    expect(record(responsesEvent, [completed({ usage })]).usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 64,
      cacheWriteTokens: 8,
      reasoningTokens: 12,
    });
  });
});

describe('failures', () => {
  function failed(error: unknown) {
    return record(responsesEvent, [{ type: 'response.failed', response: { status: 'failed', error } }]).fault;
  }

  test('have a kind for each error code of a failed response', () => {
    const kinds = [
      'rate_limit_exceeded',
      'server_error',
      'server_is_overloaded',
      'slow_down',
      'invalid_prompt',
      'image_too_large',
      'bio_policy',
      'context_length_exceeded',
      'insufficient_quota',
      'a_code_of_the_future',
    ].map((code) => failed({ code, message: 'x' })?.kind);
    expect(kinds).toEqual([
      'rate_limit',
      'agent',
      'busy',
      'busy',
      'invalid',
      'invalid',
      'invalid',
      'too_long',
      'invalid',
      'agent',
    ]);
  });

  test('include a failed response without an error object', () => {
    expect(failed(null)).toEqual({
      kind: 'agent',
      message: 'The service reported an error without details.',
    });
  });

  test('include the usage of a failed response', () => {
    const response = {
      status: 'failed',
      error: { code: 'server_error', message: 'x' },
      usage: { input_tokens: 9 },
    };
    expect(record(responsesEvent, [{ type: 'response.failed', response }]).usage).toEqual({ inputTokens: 9 });
  });

  test('are read from flat, nested and bare error events', () => {
    const error = { type: 'service_unavailable_error', code: 'server_is_overloaded', message: 'Full.' };
    const flat = { type: 'error', code: 'server_is_overloaded', message: 'Full.', param: null };
    const faults = [flat, { type: 'error', error }, { error }].map(
      (payload) => record(responsesEvent, [payload]).fault,
    );
    expect(faults).toEqual(Array(3).fill({ kind: 'busy', message: 'Full.' }));
  });

  test('contain the retry delay from the error message [P7]', () => {
    const waits = ['in 1.3s', 'in 498ms', 'in 2m', 'later'].map(
      (when) => failed({ code: 'rate_limit_exceeded', message: `Please try again ${when}.` })?.retryAfterMs,
    );
    expect(waits).toEqual([1300, 498, 120_000, undefined]);
  });

  test('include text that is not JSON, except [DONE] of the older API', () => {
    expect(record(responsesEvent, ['{"type": "resp']).fault?.kind).toBe('broken');
    expect(record(responsesEvent, ['[DONE]']).fault).toBeUndefined();
  });
});

describe('repeated content [P1]', () => {
  const message = (text: string, rest: object = {}) => ({
    id: 'msg_1',
    type: 'message',
    content: [{ type: 'output_text', text }],
    ...rest,
  });
  const call = (input: string) => ({
    id: 'fc_1',
    type: 'function_call',
    call_id: 'call_1',
    name: 'one',
    arguments: input,
  });
  const delta = (text: string, rest: object = {}) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    delta: text,
    ...rest,
  });

  test('is used if only the last event contains it [P4]', () => {
    const reasoning = { ...thought, status: 'completed' };
    const { blocks, end } = record(responsesEvent, [
      completed({ output: [reasoning, message('Hello.'), call('{"n":1}'), { id: 'x_1', type: 'novel' }] }),
    ]);
    expect(blocks.map(({ kind, text, seal }) => [kind, text, seal])).toEqual([
      ['reasoning', 'Hm.', thought],
      ['opaque', '', { type: 'message', id: 'msg_1' }],
      ['text', 'Hello.', undefined],
      ['call', '{"n":1}', { id: 'fc_1' }],
      ['opaque', '', { id: 'x_1', type: 'novel' }],
    ]);
    expect(end).toBe('tool_use');
  });

  test('is used if only the event that ends a part contains it [P4]', () => {
    const text = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello.' };
    expect(textIn(record(responsesEvent, [text, completed()]), 'text')).toBe('Hello.');
    const unplaced = { type: 'response.output_text.delta', output_index: 0, delta: 'Hello.' };
    expect(textIn(record(responsesEvent, [unplaced, text, completed()]), 'text')).toBe('Hello.');
    const refusal = { type: 'response.refusal.done', output_index: 0, refusal: 'I will not.' };
    const refused = record(responsesEvent, [refusal, completed()]);
    expect([textIn(refused, 'text'), refused.end]).toEqual(['I will not.', 'refusal']);
    const input = {
      type: 'response.function_call_arguments.done',
      output_index: 0,
      item_id: 'fc_1',
      arguments: '{"n":1}',
    };
    expect(callsIn(record(responsesEvent, [added(0, call('')), input, completed()]))).toEqual([
      { id: 'call_1', name: 'one', input: '{"n":1}' },
    ]);
  });

  test('adds nothing if it is the same, even with another id or index of the item', () => {
    const texts = [
      [delta('Hello.'), done(0, message('Hello.')), completed({ output: [message('Hello.')] })],
      [
        delta('Hello.'),
        done(0, message('Hello.', { id: 'msg_2' })),
        completed({ output: [message('Hello.')] }),
      ],
      [delta('Hello.', { output_index: 1 }), completed({ output: [message('Hello.', { id: 'other' })] })],
      [
        delta('Hello.', { output_index: undefined, item_id: 'msg_9' }),
        completed({ output: [message('Hello.')] }),
      ],
      [delta('\nHello.\n'), completed({ output: [message('Hello.')] })],
      [delta('Hello.'), completed({ output: [message('')] })],
    ].map((payloads) => textIn(record(responsesEvent, payloads), 'text').trim());
    expect(texts).toEqual(Array(6).fill('Hello.'));
  });

  test('adds the rest if the chunks contain only its beginning', () => {
    const recording = record(responsesEvent, [delta('Hel'), completed({ output: [message('Hello.')] })]);
    expect([textIn(recording, 'text'), recording.fault]).toEqual(['Hello.', undefined]);
  });

  test.each([
    ['text', [delta('Goodbye.'), completed({ output: [message('Hello.')] })]],
    [
      'part',
      [
        delta('Goodbye.'),
        { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello.' },
      ],
    ],
    ['item', [delta('Goodbye.'), done(0, message('Hello.'))]],
    [
      'arguments',
      [
        added(0, call('')),
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"n":2}' },
        done(0, call('{"n":1}')),
      ],
    ],
  ])('makes the response invalid if its %s differs from the chunks', (_what, payloads) => {
    expect(record(responsesEvent, payloads).fault?.kind).toBe('broken');
  });

  test('is compared part by part', () => {
    const whole = (content_index: number, text: string) => ({
      type: 'response.output_text.done',
      output_index: 0,
      content_index,
      text,
    });
    const both = {
      id: 'msg_1',
      type: 'message',
      content: [
        { type: 'output_text', text: 'One.' },
        { type: 'output_text', text: 'Two.' },
      ],
    };
    const recording = record(responsesEvent, [
      delta('One.'),
      whole(0, 'One.'),
      delta('Tw', { content_index: 1 }),
      whole(1, 'Two.'),
      done(0, both),
      completed({ output: [both] }),
    ]);
    expect([textIn(recording, 'text'), recording.fault]).toEqual(['One.Two.', undefined]);
  });

  test('is dropped if its event repeats an earlier sequence number', () => {
    const twice = (...payloads: Record<string, unknown>[]) =>
      payloads
        .map((payload, index) => ({ ...payload, sequence_number: index + 1 }))
        .flatMap((one) => [one, one]);
    const recording = record(responsesEvent, twice(delta('Ha'), delta('Ha'), delta('!')));
    expect(textIn(recording, 'text')).toBe('HaHa!');
    const again = ['a', 'b', 'a', 'b', 'c'].map((text) =>
      delta(text, { sequence_number: text.charCodeAt(0) }),
    );
    expect(textIn(record(responsesEvent, again), 'text')).toBe('abc');
  });

  test('is kept if the server does not number its events properly', () => {
    const uncounted = [0, 0, -1, -1, 7, 7].map((sequence_number, index) =>
      delta(String(index), { sequence_number }),
    );
    expect(textIn(record(responsesEvent, uncounted), 'text')).toBe('012345');
  });
});
