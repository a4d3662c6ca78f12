import { describe, expect, test } from 'vitest';
import type { FoundRequest, MockWire, ScriptAnswer } from '../../src/testing/index.ts';
import { callBlock, errorText, mockWire, scriptResponse } from '../../src/testing/index.ts';

const empty: FoundRequest = { model: 'm', system: '', turns: [], tools: [], toolChoice: 'auto' };

const plain: MockWire<FoundRequest> = {
  provider: 'plain',
  framing: 'sse',
  lacks: {},
  open: (at, block) => [['open', at, block.type]],
  delta: (at, text, block) => [['piece', at, text, block.type]],
  end: ({ stop }) => [['end', stop]],
  noise: () => [],
  error: ({ kind, message }) => ({ body: { kind, message } }),
  read: (body) => body,
  refuse: ({ model }) => (model === '' ? 'Name a model.' : undefined),
};

const answer: ScriptAnswer = scriptResponse([
  { type: 'reasoning', text: 'Hm.', seal: 'wax' },
  callBlock('c', 'f', '{}'),
]);
const secret = 'a-secret';

test('a word is found by its meaning, the first of several', () => {
  const table = new Map([
    ['full', 'complete'],
    ['done', 'complete'],
  ]);
  expect([errorText(table, 'complete'), errorText(table, 'refusal')]).toEqual(['full', undefined]);
});

describe('an inverse', () => {
  test.each([
    ['sse', 'text/event-stream', 'data: {"a":1}\n\n', 'data: [DONE]\n\n'],
    ['ndjson', 'application/x-ndjson', '{"a":1}\n', '[DONE]\n'],
  ] as const)('frames for %s as the wire reads it', (framing, contentType, json, words) => {
    const testing = mockWire({ ...plain, framing });
    expect([testing.contentType, testing.frame({ a: 1 }), testing.frame('[DONE]')]).toEqual([
      contentType,
      json,
      words,
    ]);
  });

  test('tells each step in the words of its block, and nothing where it has none', () => {
    const testing = mockWire(plain);
    expect(testing.begin(answer)).toEqual([]);
    expect(testing.line({ type: 'open', at: 0 }, answer)).toEqual([['open', 0, 'reasoning']]);
    expect(testing.line({ type: 'delta', at: 1, text: '{' }, answer)).toEqual([['piece', 1, '{', 'call']]);
    expect(testing.line({ type: 'seal', at: 0 }, answer)).toEqual([]);
    expect(testing.line({ type: 'close', at: 0 }, answer)).toEqual([]);
    expect(testing.line({ type: 'open', at: 2 }, answer)).toEqual([]);
    expect(testing.line({ type: 'end' }, answer)).toEqual([['end', 'tool_use']]);
  });

  test('tells the seal of reasoning, and none of what has none', () => {
    const testing = mockWire({ ...plain, seal: (at, seal) => [['seal', at, seal]] });
    expect(testing.line({ type: 'seal', at: 0 }, answer)).toEqual([['seal', 0, 'wax']]);
    expect(testing.line({ type: 'seal', at: 1 }, answer)).toEqual([]);
  });

  test('a failed request has the status of its kind, and the key in it where the key is refused', () => {
    const { error } = mockWire(plain);
    const failed = error({ kind: 'auth', message: 'No' }, secret);
    expect(failed).toEqual({
      status: 401,
      headers: { 'content-type': 'application/json' },
      body: '{"kind":"auth","message":"No: a-secret"}',
    });
    expect(error({ kind: 'busy', message: 'No' }, secret)).toMatchObject({ status: 529 });
    expect(error({ kind: 'too_long', message: 'No' }, secret)).toMatchObject({ status: 400 });
    expect(error({ kind: 'agent', message: 'No' }, secret).body).not.toContain(secret);
  });

  test('a status, headers and a body that is a text are taken as they are given', () => {
    const error = () => ({ status: 418, headers: { 'x-wait': '2' }, body: 'Teapot.' });
    expect(mockWire({ ...plain, error }).error({ kind: 'agent', message: '' }, secret)).toEqual({
      status: 418,
      headers: { 'content-type': 'text/plain', 'x-wait': '2' },
      body: 'Teapot.',
    });
  });

  test('a failure in the middle is the body of the failed request, unless it is said otherwise', () => {
    const fault = { kind: 'agent', message: 'Ill.' } as const;
    expect(mockWire(plain).fail(fault)).toEqual([{ kind: 'agent', message: 'Ill.' }]);
    expect(mockWire({ ...plain, fail: () => ['over', 'out'] }).fail(fault)).toEqual(['over', 'out']);
  });

  test('what is refused is refused in the words of an invalid request', () => {
    const { refuse } = mockWire(plain);
    expect(refuse(empty)).toBeUndefined();
    expect(refuse({ ...empty, model: '' })).toMatchObject({
      status: 400,
      body: '{"kind":"invalid","message":"Name a model."}',
    });
  });

  test('instructions are joined, and what the request does not say is left out', () => {
    const { read } = mockWire(plain);
    const request = { ...empty, system: ['One.', 'Two.'], maxTokens: null, temperature: 0, output: null };
    expect(read(request)).toEqual({ ...empty, system: 'One.\n\nTwo.', temperature: 0 });
  });

  test('what stands on the same side is one turn; texts of a result are one, and its pictures follow it', () => {
    const picture = { type: 'file', mediaType: 'image/png', data: 'AAAA' } as const;
    const text = (words: string) => ({ type: 'text', text: words }) as const;
    const { turns } = mockWire(plain).read({
      ...empty,
      turns: [
        { side: 'user', parts: [{ type: 'result', id: 'c', parts: [text('a'), picture, text('b')] }] },
        { side: 'user', parts: [text('And?')] },
        { side: 'assistant', parts: [text('So.')] },
      ],
    });
    const result = { type: 'result', id: 'c', text: 'ab', isError: false };
    expect(turns).toEqual([
      { side: 'user', parts: [result, picture, text('And?')] },
      { side: 'assistant', parts: [text('So.')] },
    ]);
  });
});
