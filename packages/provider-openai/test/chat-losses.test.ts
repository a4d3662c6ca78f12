import { describe, expect, test } from 'vitest';
import { chatEvent, chatIgnored } from '../src/chat/event.ts';
import { record } from './recorder.ts';

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

describe('nothing is lost silently [P27]', () => {
  const call = (rest: object) => callChunk({ index: 0, id: 'a', function: { name: 'one' }, ...rest });

  test.each([
    ['audio', 'delta.audio', chunk({ audio: { data: 'UklGRg==' } })],
    ['images', 'delta.images', chunk({ images: [{ type: 'image_url' }] })],
    [
      'a second choice beside the first',
      'a second choice',
      {
        choices: [
          { index: 0, delta: {} },
          { index: 1, delta: { content: 'x' } },
        ],
      },
    ],
    [
      'a second choice in a chunk of its own',
      'a second choice',
      { choices: [{ index: 1, delta: { content: 'x' } }] },
    ],
    ['the text of a completion', 'text outside a message', { choices: [{ index: 0, text: 'Hello.' }] }],
    [
      'a call of another type',
      'a call of type custom',
      call({ type: 'custom', custom: { name: 'one', input: 'x' } }),
    ],
    ['calls that are not a list', 'tool_calls that is not a list', chunk({ tool_calls: { 0: { id: 'a' } } })],
  ])('reports %s, which must not be dropped', (_what, kind, payload) => {
    expect(record(chatEvent, [payload]).ignored).toContain(kind);
    expect(Object.hasOwn(chatIgnored, kind)).toBe(false);
  });

  test('reports a call without its first chunk, and calls out of order', () => {
    expect(ended([callChunk({ index: 0, function: { arguments: '{}' } })]).ignored).toContain(
      'a call without an id or a name',
    );
    const calls = [1, 0].map((index) => callChunk({ index, id: `c${index}`, function: { name: 'one' } }));
    expect(ended(calls).ignored).toContain('calls out of order');
  });

  test('leaves an object without choices and usage to the check for unknown data', () => {
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
  ])('rejects a complete message whose %s differs from the chunks', (_what, message) => {
    const chunks = [
      chunk({ reasoning: 'Hm.' }),
      chunk({ content: 'Hi.' }),
      callChunk({ index: 0, id: 'a', function: { name: 'one', arguments: '{"n":1}' } }),
    ];
    expect(record(chatEvent, [...chunks, { choices: [{ index: 0, message }] }]).fault?.kind).toBe('broken');
  });

  test.each([
    ['choices that are not objects', { choices: ['Hi.'] }],
    ['choices that are not objects', { choices: { 0: { delta: { content: 'Hi.' } } }, usage: {} }],
    ['a message that is not an object', { choices: [{ index: 0, delta: 'Hi.' }] }],
    ['a message that is not an object', { choices: [{ index: 0, message: 'Hi.' }] }],
    ['text outside a message', { choices: [{ index: 0, text: ['Hi.'] }] }],
    ['tool_calls that is not a list', chunk({ tool_calls: ['one'] })],
    ['a function_call that is not an object', chunk({ function_call: 'one' })],
    ['refusal that is not a string', chunk({ refusal: { text: 'No.' } })],
    ['two versions of the reasoning', chunk({ reasoning: 'Hm.', reasoning_content: 'So.' })],
    [
      'tool_call.arguments',
      callChunk({ index: 0, id: 'a', function: { name: 'one' }, arguments: '{"n":1}' }),
    ],
    ['function.parameters', call({ function: { name: 'one', parameters: '{"n":1}' } })],
    ['function.input', call({ function: { name: 'one', input: { n: 1 } } })],
    ['a function that is not an object', call({ function: 'one' })],
    ['id that is not a string', call({ id: { a: 1 } })],
    ['name that is not a string', call({ function: { name: ['one'] } })],
    ['arguments that are not text', call({ function: { name: 'one', arguments: 7 } })],
    ['delta.text', chunk({ text: 'x' })],
    ['part.hologram', chunk({ content: [{ type: 'text', text: 'a', hologram: 'x' }] })],
    ['choice.message_v2', { choices: [{ index: 0, message_v2: { content: 'x' } }] }],
    ['chunk.output', { usage: { prompt_tokens: 1 }, output: [{ text: 'x' }] }],
  ])('reports %s', (what, payload) => {
    expect(ended([chunk({ content: 'Hi.' }), payload], 'stop').ignored).toContain(what);
  });

  test('accepts a call without arguments, which servers send for a tool without parameters', () => {
    // As recorded in github.com/vllm-project/vllm/issues/11392.
    const { ignored, fault } = ended([call({ type: 'function' })], 'tool_calls');
    expect([ignored.filter((kind) => !Object.hasOwn(chatIgnored, kind)), fault]).toEqual([[], undefined]);
  });

  test('drops fields of compatible servers that hold no part of the response', () => {
    const { ignored } = ended(
      [
        chunk({
          content: 'a',
          annotations: [{}, {}],
          channel: 'final',
          name: 'Model',
          reasoning_details: [{}],
        }),
        chunk({ extra_content: { google: { thought_signature: 'x' } } }),
        { choices: [{ index: 0, content_filter_results: { hate: {} } }] },
      ],
      'tool_calls',
    );
    expect(ignored.filter((kind) => !Object.hasOwn(chatIgnored, kind))).toEqual([]);
  });

  test('fails with the error of a choice, whatever its finish reason', () => {
    const choice = { index: 0, delta: {}, finish_reason: 'stop', error: { message: 'Upstream failed.' } };
    const { end, fault } = record(chatEvent, [chunk({ content: 'Hi.' }), { choices: [choice] }]);
    expect(fault?.message).toContain('Upstream failed.');
    expect(end).toBeUndefined();
  });
});
