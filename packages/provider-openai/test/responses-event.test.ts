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
  test('reasoning is sealed whole, as its last event has it and unknown fields included', () => {
    const whole = { ...thought, summary: [], content: [], novel: { deep: [1] } };
    const recording = record(responsesEvent, [
      added(0, { ...whole, encrypted_content: 'gAAA-incomplete' }),
      done(0, { ...whole, status: 'completed' }),
      completed(),
    ]);
    expect(recording.blocks).toEqual([{ at: '0', kind: 'reasoning', text: '', seal: whole, closed: true }]);
  });

  test('reasoning that the service could not take back is shown and not sealed', () => {
    const { encrypted_content: _, ...bare } = thought;
    const [block] = record(responsesEvent, [done(0, bare), completed()]).blocks;
    expect(block).toEqual({ at: '0', kind: 'reasoning', text: 'Hm.', closed: true });
  });

  test('plain reasoning of an open model is sealed too', () => {
    const open = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
    };
    const [block] = record(responsesEvent, [done(0, open), completed()]).blocks;
    expect(block).toMatchObject({ text: 'Hm.', seal: open });
  });

  test('the parts of a summary are separated by a blank line', () => {
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

  test('the phase of a message is kept before its text', () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [], phase: 'commentary' };
    const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'I look.' };
    const { blocks } = record(responsesEvent, [added(0, item), delta, done(0, item)]);
    expect(blocks).toEqual([
      { at: '0:head', kind: 'opaque', text: '', seal: { type: 'message', id: 'msg_1', phase: 'commentary' } },
      { at: '0', kind: 'text', text: 'I look.', closed: true },
    ]);
  });

  test('the id of a message is kept where reasoning stands before it', () => {
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

  test('an item of a kind we do not know is kept whole', () => {
    const novel = { id: 'cmp_1', type: 'compaction', encrypted_content: 'x' };
    expect(record(responsesEvent, [added(0, novel), done(0, novel)]).blocks).toEqual([
      { at: '0', kind: 'opaque', text: '', seal: novel },
    ]);
  });

  test('an item without a kind is named, because no service would take it back [P12, P27]', () => {
    const kindless = [undefined, null, 0, {}].map((type, index) => done(index, { id: 'x_1', type }));
    const { blocks, ignored } = record(responsesEvent, [...kindless, completed()]);
    expect([blocks, ignored]).toEqual([[], Array(4).fill('an item without a type')]);
  });

  test('a server that sends no deltas is understood by its whole items', () => {
    const recording = record(responsesEvent, [
      done(0, { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }),
      done(1, { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{"n":1}' }),
      completed(),
    ]);
    expect(textIn(recording, 'text')).toBe('Hello.');
    expect(callsIn(recording)).toEqual([{ id: 'call_1', name: 'one', input: '{"n":1}' }]);
    expect(recording.end).toBe('tool_use');
  });

  test('a server that leaves out the index is understood by the id of the item', () => {
    const recording = record(responsesEvent, [
      { type: 'response.output_item.added', item: { id: 'msg_1', type: 'message', content: [] } },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Hello.' },
    ]);
    expect(recording.blocks).toEqual([{ at: 'msg_1', kind: 'text', text: 'Hello.' }]);
  });
});

describe('the end of an answer [P4]', () => {
  test('is tool_use when there was a call, whatever the closing event repeats', () => {
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'one', arguments: '' };
    expect(record(responsesEvent, [added(0, call), completed()]).end).toBe('tool_use');
    expect(record(responsesEvent, [completed()]).end).toBe('complete');
  });

  test('is a refusal when the model refused, and the refusal is the text', () => {
    const delta = { type: 'response.refusal.delta', output_index: 0, delta: 'I will not.' };
    const recording = record(responsesEvent, [delta, completed()]);
    expect(textIn(recording, 'text')).toBe('I will not.');
    expect(recording.end).toBe('refusal');
  });

  test('is a refusal also when only the whole item tells it', () => {
    const item = { id: 'msg_1', type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] };
    expect(record(responsesEvent, [done(0, item), completed()])).toMatchObject({ end: 'refusal' });
  });

  test('says why an answer is incomplete, and of an unknown reason that it is unknown', () => {
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

  test('the usage counts cached and reasoning tokens as part of the whole [S0.8]', () => {
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

  test('each code of a failed response has its kind', () => {
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

  test('a failed response without an error still says that it failed', () => {
    expect(failed(null)).toEqual({
      kind: 'agent',
      message: 'The service reported an error without details.',
    });
  });

  test('what a failed response used is counted', () => {
    const response = {
      status: 'failed',
      error: { code: 'server_error', message: 'x' },
      usage: { input_tokens: 9 },
    };
    expect(record(responsesEvent, [{ type: 'response.failed', response }]).usage).toEqual({ inputTokens: 9 });
  });

  test('an error event is understood flat, nested and bare', () => {
    const error = { type: 'service_unavailable_error', code: 'server_is_overloaded', message: 'Full.' };
    const flat = { type: 'error', code: 'server_is_overloaded', message: 'Full.', param: null };
    const faults = [flat, { type: 'error', error }, { error }].map(
      (payload) => record(responsesEvent, [payload]).fault,
    );
    expect(faults).toEqual(Array(3).fill({ kind: 'busy', message: 'Full.' }));
  });

  test('the wait that only the text tells is heard [P7]', () => {
    const waits = ['in 1.3s', 'in 498ms', 'in 2m', 'later'].map(
      (when) => failed({ code: 'rate_limit_exceeded', message: `Please try again ${when}.` })?.retryAfterMs,
    );
    expect(waits).toEqual([1300, 498, 120_000, undefined]);
  });

  test('text that is not JSON is a broken stream, the [DONE] of the older API is not', () => {
    expect(record(responsesEvent, ['{"type": "resp']).fault?.kind).toBe('broken');
    expect(record(responsesEvent, ['[DONE]']).fault).toBeUndefined();
  });
});

describe('what the service says again [P1]', () => {
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

  test('is the answer where it stands in the last event alone [P4]', () => {
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

  test('is the answer where it stands in the event that ends a part alone [P4]', () => {
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

  test('adds nothing where it is the same, however the item is named the second time', () => {
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

  test('adds its end where the pieces are its beginning', () => {
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
  ])('makes the answer garbled where its %s differs from the pieces', (_what, payloads) => {
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

  test('under the number of an event that came before is not said twice', () => {
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

  test('is taken where servers do not count their events', () => {
    const uncounted = [0, 0, -1, -1, 7, 7].map((sequence_number, index) =>
      delta(String(index), { sequence_number }),
    );
    expect(textIn(record(responsesEvent, uncounted), 'text')).toBe('012345');
  });
});
