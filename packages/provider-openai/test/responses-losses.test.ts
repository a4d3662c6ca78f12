import { describe, expect, test } from 'vitest';
import { responsesEvent } from '../src/responses/event.ts';
import { responsesIgnored } from '../src/responses/ignored.ts';
import { callsIn, record } from './recorder.ts';

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

test('ends with max_tokens if response.completed contains an incomplete response [P4]', () => {
  const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  expect(record(responsesEvent, [completed(response)]).end).toBe('max_tokens');
});

describe('nothing is lost silently [P27]', () => {
  const message = (text: string, at: number, rest: object = {}) => ({
    id: `msg_${at}`,
    type: 'message',
    content: [{ type: 'output_text', text }],
    ...rest,
  });
  const delta = (text: string, output_index: number, rest: object = {}) => ({
    type: 'response.output_text.delta',
    output_index,
    delta: text,
    ...rest,
  });
  const faultOf = (...payloads: unknown[]) => record(responsesEvent, payloads).fault?.kind;

  test('drops an unknown event of an item if the last event repeats the item, and reports it if not', () => {
    const event = { type: 'response.hologram.delta', output_index: 0, delta: 'x' };
    const novel = { id: 'x_1', type: 'novel', depth: 3 };
    const whole = record(responsesEvent, [event, completed({ output: [novel] })]);
    expect([whole.blocks.map(({ seal }) => seal), whole.fault]).toEqual([[novel], undefined]);
    expect(whole.ignored.filter((kind) => !Object.hasOwn(responsesIgnored, kind))).toEqual([]);
    const lost = record(responsesEvent, [event, completed()]);
    expect(lost.ignored).toContain('an item of an unknown type at 0');
  });

  test.each([
    ['output', completed({ output: ['Hi.'] })],
    ['output', completed({ output: { 0: { type: 'message' } } })],
    ['content', done(0, { id: 'm', type: 'message', content: 'Hi.' })],
    ['content', done(0, { id: 'm', type: 'message', content: ['Hi.'] })],
    ['summary', done(0, { id: 'r', type: 'reasoning', summary: 'Hm.' })],
  ])('reports %s that is not a list of objects', (name, payload) => {
    expect(record(responsesEvent, [payload]).ignored).toContain(`${name} that is not a list of objects`);
  });

  test('keeps arguments that are sent as an object', () => {
    const call = { id: 'fc', type: 'function_call', call_id: 'a', name: 'one', arguments: { n: 1 } };
    expect(callsIn(record(responsesEvent, [done(0, call)]))).toEqual([
      { id: 'a', name: 'one', input: '{"n":1}' },
    ]);
  });

  test.each([
    ['function_call.parameters', { parameters: '{"n":1}', arguments: '' }],
    ['function_call.input', { input: { n: 1 } }],
    ['a call without arguments', {}],
    ['call_id that is not a string', { call_id: 7, arguments: '' }],
    ['name that is not a string', { name: ['one'], arguments: '' }],
  ])('reports %s', (what, rest) => {
    const call = { id: 'fc', type: 'function_call', call_id: 'a', name: 'one', ...rest };
    expect(record(responsesEvent, [done(0, call)]).ignored).toContain(what);
  });

  test.each([
    ['message.text', done(0, message('', 0, { text: 'x' }))],
    ['reasoning.text', done(0, { ...thought, text: 'x' })],
    [
      'part.hologram',
      done(0, message('', 0, { content: [{ type: 'output_text', text: 'a', hologram: 'x' }] })),
    ],
    ['an end without a response', { type: 'response.completed', output: [] }],
    ['an end without a response', { type: 'response.incomplete' }],
    [
      'output that is not a list of objects',
      { type: 'response.completed', response: { status: 'completed' } },
    ],
  ])('reports %s', (what, payload) => {
    expect(record(responsesEvent, [payload]).ignored).toContain(what);
  });

  test.each([[{ status: 'failed' }], [{ error: { message: 'Upstream failed.' } }]])(
    'fails if response.completed contains a failed response: %j',
    (response) => {
      const { end, fault } = record(responsesEvent, [delta('Hi.', 0), completed(response)]);
      expect(fault?.message).toEqual(expect.any(String));
      expect(end).toBeUndefined();
    },
  );

  test('reports an unknown part of a message', () => {
    const item = message('', 0, { content: [{ type: 'output_audio', data: 'UklGRg==' }] });
    expect(record(responsesEvent, [done(0, item)]).ignored).toContain('a part of type output_audio');
  });

  test('rejects a text that continues after its end, and texts in the wrong order', () => {
    expect(faultOf(done(0, message('Hello.', 0)), delta('More.', 0))).toBe('broken');
    const output = [message('One.', 0), message('Two.', 1)];
    expect(faultOf(delta('Two.', 1), delta('One.', 0), completed({ output }))).toBe('broken');
    expect(faultOf(delta('One.', 0), delta('Two.', 1), completed({ output }))).toBeUndefined();
  });

  test('rejects an item or a part that starts or ends twice, unless its event has the same number', () => {
    const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item });
    const ended = { type: 'response.output_text.done', output_index: 0, text: 'Hi.' };
    for (const event of [added(message('', 0)), added(thought), done(0, message('Hi.', 0)), ended]) {
      expect(faultOf(event, event)).toBe('broken');
      const numbered = { ...Object(event), sequence_number: 4 };
      expect(faultOf(numbered, numbered)).toBeUndefined();
    }
    expect(record(responsesEvent, [completed(), completed()]).late).toBe(true);
  });

  test('rejects a text that lacks whitespace of the complete text', () => {
    expect(faultOf(delta('OneTwo.', 0), completed({ output: [message('One Two.', 0)] }))).toBe('broken');
    expect(faultOf(delta('One.', 0), completed({ output: [message('\nOne.', 0)] }))).toBe('broken');
  });

  test('rejects reasoning that differs from the complete item, and adds a missing rest once', () => {
    const piece = { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'H' };
    expect(faultOf({ ...piece, delta: 'Oh' }, done(0, thought))).toBe('broken');
    const { blocks, fault } = record(responsesEvent, [
      piece,
      done(0, thought),
      completed({ output: [thought] }),
    ]);
    expect([blocks[0]?.text, fault]).toEqual(['Hm.', undefined]);
  });

  test('rejects a message without its start event if its phase would be lost', () => {
    const item = message('Hello.', 0, { phase: 'commentary' });
    expect(faultOf(delta('Hello.', 0), done(0, item))).toBe('broken');
  });

  test('rejects events out of order, and a gap if an item is not repeated completely', () => {
    const numbered = (sequence_number: number, text: string) => delta(text, 0, { sequence_number });
    expect(faultOf(numbered(1, 'a'), numbered(3, 'c'), numbered(2, 'b'))).toBe('broken');
    expect(faultOf(numbered(1, 'a'), numbered(3, 'c'), completed())).toBe('broken');
    expect(faultOf(numbered(1, 'a'), numbered(2, 'c'), completed())).toBeUndefined();
  });

  test('accepts a gap if every item is repeated completely, and adds the missing text', () => {
    const numbered = (sequence_number: number, text: string) => delta(text, 0, { sequence_number });
    const { blocks, fault } = record(responsesEvent, [
      numbered(1, 'a'),
      numbered(3, 'b'),
      completed({ output: [message('abc', 0)] }),
    ]);
    expect([fault, blocks.map(({ text }) => text)]).toEqual([undefined, ['abc']]);
  });

  test('uses the model in the last event if the first event is missing', () => {
    expect(record(responsesEvent, [completed({ model: 'gpt-x' })]).model).toBe('gpt-x');
  });
});
