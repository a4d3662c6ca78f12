import { describe, expect, test } from 'vitest';
import { rawCheck } from '../src/response/raw-events.ts';

/** Returns the first problem of these events; undefined if there is none. */
function problemOf(...events: Readonly<Record<string, unknown>>[]): unknown {
  const check = rawCheck();
  return events.map((event) => check(event)).find((problem) => problem !== undefined);
}

const start = { type: 'message_start', message: {} };
const block = (index: number, type = 'text') => ({
  type: 'content_block_start',
  index,
  content_block: { type },
});
const delta = (index: number, type = 'input_json_delta') => ({
  type: 'content_block_delta',
  index,
  delta: { type },
});
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ending = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];

describe('raw events of the Messages API [P27]', () => {
  test('are valid as the service sends them, and events of other services are not checked', () => {
    expect(
      problemOf(start, block(0, 'tool_use'), delta(0), stop(0), { type: 'ping' }, ...ending),
    ).toBeUndefined();
    expect(problemOf({ type: 'content-delta', index: 7 }, { candidates: [] }, {})).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, unknown>>[]]>([
    ['without a start', [block(0)]],
    ['with a second start', [start, start]],
    ['with a block out of order', [start, block(1)]],
    ['with a block that starts twice', [start, block(0), block(0)]],
    ['with a chunk without a block', [start, delta(0)]],
    ['with a chunk after its block', [start, block(0, 'tool_use'), stop(0), delta(0)]],
    ['with a chunk of the wrong type', [start, block(0), delta(0)]],
    ['with an end without a block', [start, stop(0)]],
    ['with a block that does not end', [start, block(0), ...ending]],
    ['with a block that ends twice', [start, block(0), stop(0), stop(0)]],
    ['with two ends', [start, ...ending, ...ending.slice(1)]],
    [
      'with two stop reasons',
      [start, ...ending.slice(0, 1), { type: 'message_delta', delta: { stop_reason: 'x' } }],
    ],
    ['without a stop reason', [start, { type: 'message_stop' }]],
  ])('%s are invalid', (_what, events) => {
    expect(problemOf(...events)).toBeDefined();
  });
});

describe('raw events of the Responses API [P27]', () => {
  const item = (of: 'added' | 'done', output_index: number, type = 'message') => ({
    type: `response.output_item.${of}`,
    output_index,
    item: { type },
  });
  const text = (output_index: number, rest: object = {}) => ({
    type: 'response.output_text.delta',
    output_index,
    ...rest,
  });
  const completed = (...types: string[]) => ({
    type: 'response.completed',
    response: { output: types.map((type) => ({ type })) },
  });

  test('are valid as the service sends them, even without items before the last event', () => {
    expect(problemOf(item('added', 0), text(0), item('done', 0), completed('message'))).toBeUndefined();
    expect(problemOf(completed('message', 'function_call'))).toBeUndefined();
    expect(problemOf(item('added', 0), text(0), completed('message'))).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, unknown>>[]]>([
    ['with an item that starts twice', [item('added', 0), item('added', 0)]],
    ['with an item that ends twice', [item('done', 0), item('done', 0)]],
    ['with a call that does not end', [item('added', 0), completed('function_call')]],
    ['with reasoning that does not start', [item('done', 0), completed('reasoning')]],
    [
      'with a message that does not end after reasoning',
      [item('added', 1), completed('reasoning', 'message')],
    ],
    ['with an item of a type unknown to the SDK', [completed('hologram')]],
    [
      'with an item of an unknown type that the last event does not repeat',
      [item('added', 3, 'hologram'), completed('message')],
    ],
    ['out of order', [item('added', 0), text(0, { sequence_number: 5 }), text(0, { sequence_number: 4 })]],
  ])('%s are invalid', (_what, events) => {
    expect(problemOf(...events)).toBeDefined();
  });

  test('of an unknown type are returned, unless the last event must repeat their item', () => {
    const check = rawCheck();
    expect(check({ type: 'response.created' })).toBeUndefined();
    const unknown = [
      { type: 'weather', forecast: 'fair' },
      { type: 'response.hologram', data: [1] },
      { type: 'response.output_item.added', item: { type: 'hologram' } },
    ];
    expect(unknown.map((event) => check(event))).toEqual(unknown);
    expect(check({ type: 'response.hologram.delta', output_index: 1, delta: 'x' })).toBeUndefined();
    expect(check(completed('message'))).toContain('does not repeat item 1');
  });
});

describe('raw events of Chat Completions [P27]', () => {
  const chunk = (delta: object, index = 0) => ({ choices: [{ index, delta }] });
  const call = (index: number, rest: object = {}) => chunk({ tool_calls: [{ index, ...rest }] });

  test('are valid as the service sends them', () => {
    expect(
      problemOf(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hi.' }),
        call(0, { id: 'a' }),
        call(0),
        call(1, { function: { name: 'one' } }),
      ),
    ).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, unknown>>[]]>([
    ['with a second choice', [chunk({ content: 'x' }, 1)]],
    ['with audio', [chunk({ audio: { data: 'UklGRg==' } })]],
    ['with a late start', [chunk({ content: 'x' }), chunk({ role: 'assistant' })]],
    ['with a call without a start', [call(0)]],
    ['with calls out of order', [call(1, { id: 'b' }), call(0, { id: 'a' })]],
  ])('%s are invalid', (_what, events) => {
    expect(problemOf(...events)).toBeDefined();
  });
});
