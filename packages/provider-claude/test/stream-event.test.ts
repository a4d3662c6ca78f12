import type { ResponseSink } from '@cobbler/agent/provider';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { ignored, readEvent, readUsual } from '../src/stream-event.ts';
import { noise } from '../src/testing/stream.ts';

/** Returns the calls to the sink that these events cause, in order. */
function calls(...payloads: readonly unknown[]): unknown[][] {
  const made: unknown[][] = [];
  const record =
    (name: string) =>
    (...values: unknown[]) =>
      void made.push([name, ...values]);
  const names = [
    'begin',
    'text',
    'reasoning',
    'seal',
    'call',
    'input',
    'close',
    'usage',
    'model',
    'stop',
    'end',
    'fail',
    'ignore',
  ];
  const out = Object.fromEntries(names.map((name) => [name, record(name)])) as unknown as ResponseSink;
  const isStarted = (payloads[0] as { type?: unknown } | null)?.type === 'message_start';
  const head = isStarted ? [] : [{ type: 'message_start', message: {} }];
  for (const payload of [...head, ...payloads]) readEvent(payload, out);
  return made;
}

const start = (content_block: object, index = 0) => ({ type: 'content_block_start', index, content_block });
const delta = (content: object, index = 0) => ({ type: 'content_block_delta', index, delta: content });

describe('blocks', () => {
  test('seals thinking with its signature', () => {
    expect(
      calls(
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: 'Hm.' }),
        delta({ type: 'signature_delta', signature: 'Eq==' }),
        { type: 'content_block_stop', index: 0 },
      ),
    ).toEqual([
      ['begin', 0, 'reasoning'],
      ['reasoning', 0, ''],
      ['reasoning', 0, 'Hm.'],
      ['seal', 0, { signature: 'Eq==' }],
      ['close', 0],
    ]);
  });

  test('keeps redacted thinking unchanged', () => {
    const block = { type: 'redacted_thinking', data: 'EmwKAhgB' };
    expect(calls(start(block, 2))).toEqual([
      ['begin', 2, 'opaque'],
      ['seal', 2, block],
    ]);
  });

  test('keeps the text in a block start', () => {
    expect(
      calls(start({ type: 'text', text: 'Well' }), delta({ type: 'text_delta', text: ', yes.' })),
    ).toEqual([
      ['begin', 0, 'text'],
      ['text', 0, 'Well'],
      ['text', 0, ', yes.'],
    ]);
  });

  test('emits the arguments in a block start unless they are empty', () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'put' };
    expect(calls(start({ ...use, input: { value: 1 } }))).toEqual([
      ['begin', 0, 'call'],
      ['call', 0, 'toolu_1', 'put'],
      ['input', 0, '{"value":1}'],
    ]);
    expect(calls(start({ ...use, input: {} }))).toEqual([
      ['begin', 0, 'call'],
      ['call', 0, 'toolu_1', 'put'],
    ]);
  });
});

describe('stop reason and end', () => {
  test.each([
    ['end_turn', 'complete'],
    ['stop_sequence', 'complete'],
    ['tool_use', 'tool_use'],
    ['max_tokens', 'max_tokens'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context_full'],
    ['constructor', 'unknown'],
    ['some_later_reason', 'unknown'],
  ])('maps %s to %s [P4]', (word, reason) => {
    expect(calls({ type: 'message_delta', delta: { stop_reason: word }, usage: {} })).toEqual([
      ['stop', reason, word],
    ]);
  });

  test('ends a response at message_stop [P1]', () => {
    expect(calls({ type: 'message_stop' })).toEqual([['end']]);
  });
});

describe('usage', () => {
  test('includes cached input in the input, and does not read null as zero [P14]', () => {
    const usage = {
      input_tokens: 5,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 7,
      output_tokens: 1,
      output_tokens_details: null,
    };
    expect(calls({ type: 'message_start', message: { model: 'claude-x', usage } })).toEqual([
      ['model', 'claude-x'],
      ['usage', { inputTokens: 102, outputTokens: 1, cacheReadTokens: 90, cacheWriteTokens: 7 }],
    ]);
  });

  test('reports one-hour cache writes separately from all cache writes [P14]', () => {
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    };
    expect(calls({ type: 'message_start', message: { usage } })).toEqual([
      ['usage', { inputTokens: 12, cacheWriteTokens: 7, cacheWriteLongTokens: 4 }],
    ]);
  });

  test('leaves the input unchanged if the final counts contain only output [P14]', () => {
    const usage = { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } };
    expect(calls({ type: 'message_delta', delta: {}, usage })).toEqual([
      ['usage', { outputTokens: 9, reasoningTokens: 4 }],
    ]);
  });
});

describe('errors inside the stream', () => {
  test.each([
    ['overloaded_error', 'busy'],
    ['rate_limit_error', 'rate_limit'],
    ['api_error', 'agent'],
    ['invalid_request_error', 'invalid'],
    ['error_of_tomorrow', undefined],
  ])('maps %s to %s [P5]', (type, kind) => {
    expect(calls({ type: 'error', error: { type, message: 'Sorry.' } })).toEqual([
      ['fail', { kind, message: 'Sorry.' }],
    ]);
  });

  test('reports an event that is not JSON as a broken stream [P1]', () => {
    expect(calls('{"type":"content_bl')).toEqual([
      ['fail', { kind: 'broken', message: expect.stringContaining('not JSON') }],
    ]);
  });
});

test('emits nothing for events of unknown types', () => {
  const odd = [null, 7, [], {}, { type: 'message_weather', forecast: 'fair' }];
  expect(calls(...noise(), ...odd)).toEqual([]);
});

describe('nothing is lost silently [P27]', () => {
  test('stores a block of an unknown type unchanged, to send it back', () => {
    const block = { type: 'hologram', depth: 3 };
    expect(calls(start(block))).toEqual([
      ['begin', 0, 'opaque'],
      ['seal', 0, block],
    ]);
  });

  test('reports unknown deltas, and stores citations with their text', () => {
    const citation = { cited_text: 'x' };
    const cited = delta({ type: 'citations_delta', citation });
    const stop = { type: 'content_block_stop', index: 0 };
    expect(calls(delta({ type: 'hologram_delta', depth: 3 }), cited, stop)).toEqual([
      ['ignore', 'hologram_delta'],
      ['text', 0, ''],
      ['seal', 0, { type: 'citation', citation }, {}],
      ['close', 0],
    ]);
    expect(Object.keys(ignored)).not.toContain('hologram_delta');
  });

  test.each([
    ['tool_use.parameters', start({ type: 'tool_use', id: 'a', name: 'one', parameters: { path: 'x' } })],
    ['text.words', start({ type: 'text', text: '', words: 'x' })],
    ['thinking.thought', start({ type: 'thinking', thinking: '', signature: '', thought: 'x' })],
    ['text_delta.words', delta({ type: 'text_delta', text: 'a', words: 'x' })],
    ['input_json_delta.json', delta({ type: 'input_json_delta', json: '{}' })],
    ['delta.text', { type: 'message_delta', delta: { stop_reason: 'end_turn', text: 'x' } }],
    ['message_delta.text', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, text: 'x' }],
    ['message_stop.text', { type: 'message_stop', text: 'x' }],
    ['content_block_stop.text', { type: 'content_block_stop', index: 0, text: 'x' }],
  ])('reports the unread field %s', (kind, payload) => {
    expect(calls(payload)).toContainEqual(['ignore', kind]);
    expect(Object.keys(ignored)).not.toContain(kind);
  });

  test('lists the known fields that it does not read, each with a reason', () => {
    const lists = [
      start({ type: 'text', text: '', citations: [{}, {}] }),
      start({ type: 'tool_use', id: 'a', name: 'one', input: {}, caller: { type: 'direct' } }),
      { type: 'message_delta', delta: { stop_sequence: 'x', stop_details: { a: 1 }, container: { a: 1 } } },
      { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1 } },
    ];
    const kinds = calls(...lists).flatMap(([name, kind]) => (name === 'ignore' ? [String(kind)] : []));
    expect(kinds).toHaveLength(5);
    expect(kinds.filter((kind) => !Object.hasOwn(ignored, kind))).toEqual([]);
  });

  test('rejects an event of a block without an index or a delta', () => {
    expect(calls({ type: 'content_block_delta' })).toEqual([['ignore', 'an event without a delta']]);
    expect(calls({ type: 'content_block_stop' })).toEqual([['close', -1]]);
  });

  test('rejects a second start, and a block without a type', () => {
    const second = { type: 'message_start', message: { model: 'x' } };
    expect(calls({ type: 'message_start' }, second)).toEqual([
      ['fail', { kind: 'broken', message: expect.stringContaining('arrived twice') }],
    ]);
    expect(calls(start({ kind: 'text', text: 'x' }))).toEqual([['ignore', 'a block without a type']]);
  });

  test('reports content in message_start', () => {
    const content = [{ type: 'text', text: 'Hello.' }];
    expect(calls({ type: 'message_start', message: { content } })).toEqual([
      ['ignore', 'content of message_start'],
    ]);
  });

  test.each([
    ['text', delta({ type: 'text_delta', text: [{ text: 'x' }] })],
    ['thinking', delta({ type: 'thinking_delta', thinking: { text: 'x' } })],
    ['partial_json', delta({ type: 'input_json_delta', partial_json: { path: 'x' } })],
    ['signature', delta({ type: 'signature_delta', signature: 7 })],
    ['text', start({ type: 'text', text: ['x'] })],
  ])('reports %s that is not a string, which would be lost', (name, payload) => {
    expect(calls(payload)).toContainEqual(['ignore', expect.stringContaining(name)]);
  });

  test.each([['"Hello."'], ['{"type":"text","text":"Hello."}']])(
    'reports content in message_start that is not a list: %s',
    (content) => {
      expect(calls({ type: 'message_start', message: { content: JSON.parse(content) } })).toEqual([
        ['ignore', 'content of message_start'],
      ]);
    },
  );

  test.each([
    ['{"path":"a"}', '{"path":"a"}'],
    [['a'], '["a"]'],
  ])('keeps arguments that are not an object: %j', (input, json) => {
    const made = calls(start({ type: 'tool_use', id: 'a', name: 'one', input }));
    expect(made.at(-1)).toEqual(['input', 0, json]);
  });

  test('rejects a response without its start event', () => {
    const made: unknown[] = [];
    const out = { fail: (fault: unknown) => made.push(fault) } as unknown as ResponseSink;
    readEvent(start({ type: 'text', text: '' }), out);
    expect(made).toEqual([{ kind: 'broken', message: expect.stringContaining('start is missing') }]);
  });
});

describe('a delta in its usual spelling', () => {
  const spelled = (kind: string, text: string, index = '0', end = '}') =>
    `{"type":"content_block_delta","index":${index},"delta":{"type":"${kind}":"${text}"}${end}`;
  const kinds = ['text_delta","text', 'input_json_delta","partial_json', 'thinking_delta","thinking'];

  /** Returns the calls that a function makes. */
  function callsOf(read: (out: ResponseSink) => unknown): unknown[] {
    const calls: unknown[] = [];
    const out = new Proxy({} as ResponseSink, {
      get:
        (_, name) =>
        (...given: unknown[]) =>
          void calls.push([name, ...given]),
    });
    read(out);
    return calls;
  }

  test('is read without JSON.parse', () => {
    expect(callsOf((out) => readUsual(spelled(kinds[0] ?? '', 'Hello €😀'), out))).toEqual([
      ['text', 0, 'Hello €😀'],
    ]);
    expect(callsOf((out) => readUsual(spelled(kinds[1] ?? '', '{}', '7', '   }'), out))).toEqual([
      ['input', 7, '{}'],
    ]);
  });

  test.each([
    ['{"type":"ping"}', []],
    ['{"type":"content_block_stop","index":3   }', [['close', 3]]],
    ['{"type":"message_stop"}', [['end']]],
  ])('reads %s without JSON.parse once the response has started', (data, calls) => {
    let isRead = false;
    const start = { type: 'message_start', message: {} };
    const read = callsOf((out) => {
      expect(readUsual(data, out)).toBe(false);
      readEvent(start, out);
      isRead = readUsual(data, out);
    });
    expect(isRead).toBe(true);
    expect(read).toEqual(calls);
    expect(read).toEqual(
      callsOf((out) => {
        readEvent(start, out);
        readEvent(JSON.parse(data), out);
      }),
    );
  });

  test('has the effect of JSON.parse and readEvent, whatever its text and spelling', () => {
    const pieces = [
      'a',
      ' ',
      '"',
      '\\',
      '\\n',
      '\\"',
      '\\u00e9',
      '\t',
      '\u0000',
      '\u007f',
      '\u2028',
      '😀',
      '}',
      '"}}',
      '{',
    ];
    const random = seededRandom(1);
    let count = 0;
    for (let round = 0; round < 20_000; round += 1) {
      let text = '';
      for (let length = random.between(0, 6); length > 0; length -= 1) text += random.pick(pieces);
      const index = random.pick(['0', '3', '10', '-0', '01', '1.0', '']);
      const end = random.pick(['}', '}', ' }', '  } ', '\t}', ',"x":1}', '', '}}']);
      const data = spelled(random.pick(kinds), text, index, end);
      let isRead = false;
      const calls = callsOf((out) => {
        isRead = readUsual(data, out);
      });
      if (!isRead) {
        expect(calls, data).toEqual([]);
        continue;
      }
      count += 1;
      expect(calls, data).toStrictEqual(callsOf((out) => readEvent(JSON.parse(data), out)));
    }
    expect(count).toBeGreaterThan(200);
  });
});
