import { describe, expect, test } from 'vitest';
import type { FoundRequest, MockWire, ScriptAnswer } from '../../src/testing/index.ts';
import { callBlock, errorText, mockWire, scriptResponse } from '../../src/testing/index.ts';

const empty: FoundRequest = { model: 'm', system: '', turns: [], tools: [], toolChoice: 'auto' };

const plain: MockWire<FoundRequest> = {
  provider: 'plain',
  framing: 'sse',
  request: { path: '/ask' },
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

test('errorText returns the first word with a meaning, or undefined', () => {
  const table = new Map([
    ['full', 'complete'],
    ['done', 'complete'],
  ]);
  expect([errorText(table, 'complete'), errorText(table, 'refusal')]).toEqual(['full', undefined]);
});

describe('mockWire', () => {
  test.each([
    ['sse', 'text/event-stream', 'data: {"a":1}\n\n', 'data: [DONE]\n\n'],
    ['ndjson', 'application/x-ndjson', '{"a":1}\n', '[DONE]\n'],
  ] as const)('frames payloads for %s as the wire reads them', (framing, contentType, json, words) => {
    const testing = mockWire({ ...plain, framing });
    expect([testing.contentType, testing.frame({ a: 1 }), testing.frame('[DONE]')]).toEqual([
      contentType,
      json,
      words,
    ]);
  });

  test('returns the payloads of each step for the type of its block, or none', () => {
    const testing = mockWire(plain);
    expect(testing.begin(answer)).toEqual([]);
    expect(testing.line({ type: 'open', at: 0 }, answer)).toEqual([['open', 0, 'reasoning']]);
    expect(testing.line({ type: 'delta', at: 1, text: '{' }, answer)).toEqual([['piece', 1, '{', 'call']]);
    expect(testing.line({ type: 'seal', at: 0 }, answer)).toEqual([]);
    expect(testing.line({ type: 'close', at: 0 }, answer)).toEqual([]);
    expect(testing.line({ type: 'open', at: 2 }, answer)).toEqual([]);
    expect(testing.line({ type: 'end' }, answer)).toEqual([['end', 'tool_use']]);
  });

  test('returns the provider metadata of reasoning, and nothing for other blocks', () => {
    const testing = mockWire({ ...plain, seal: (at, seal) => [['seal', at, seal]] });
    expect(testing.line({ type: 'seal', at: 0 }, answer)).toEqual([['seal', 0, 'wax']]);
    expect(testing.line({ type: 'seal', at: 1 }, answer)).toEqual([]);
  });

  test('returns the status of an error kind, and repeats the key if it was rejected', () => {
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

  test('uses a given status, headers and text body unchanged', () => {
    const error = () => ({ status: 418, headers: { 'x-wait': '2' }, body: 'Teapot.' });
    expect(mockWire({ ...plain, error }).error({ kind: 'agent', message: '' }, secret)).toEqual({
      status: 418,
      headers: { 'content-type': 'text/plain', 'x-wait': '2' },
      body: 'Teapot.',
    });
  });

  test('uses the error body for a failure in a stream, unless `fail` is defined', () => {
    const fault = { kind: 'agent', message: 'Ill.' } as const;
    expect(mockWire(plain).fail(fault)).toEqual([{ kind: 'agent', message: 'Ill.' }]);
    expect(mockWire({ ...plain, fail: () => ['over', 'out'] }).fail(fault)).toEqual(['over', 'out']);
  });

  test('rejects a request with the body of an invalid request', () => {
    const { refuse } = mockWire(plain);
    expect(refuse(empty)).toBeUndefined();
    expect(refuse({ ...empty, model: '' })).toMatchObject({
      status: 400,
      body: '{"kind":"invalid","message":"Name a model."}',
    });
  });

  test('joins instructions and omits fields that the request does not have', () => {
    const { read } = mockWire(plain);
    const request = { ...empty, system: ['One.', 'Two.'], maxTokens: null, temperature: 0, output: null };
    expect(read(request)).toEqual({ ...empty, system: 'One.\n\nTwo.', temperature: 0 });
  });

  test('merges messages of one side, and joins the texts of a result before its images', () => {
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
