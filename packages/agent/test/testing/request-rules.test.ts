import { describe, expect, test } from 'vitest';
import type { ProviderTesting, RequestRules } from '../../src/testing/index.ts';
import {
  chunksOf,
  framed,
  framesOf,
  joinFrames,
  replies,
  scriptResponse,
  scriptTesting,
  wireServer,
} from '../../src/testing/index.ts';

const body = JSON.stringify({
  ...{ model: 'm', system: [], tools: [], toolChoice: 'auto' },
  turns: [{ side: 'user', parts: [{ type: 'text', text: 'Hello.' }] }],
});

/** Sends one request to a service with these rules, and returns its status and what the service noticed. */
async function sent(
  request: RequestRules,
  url: string,
  { method = 'POST', headers = {}, keys = [] as string[] } = {},
) {
  const server = wireServer({ ...scriptTesting, request }, () => replies(scriptResponse(['Yes.'])), {
    secret: keys,
  });
  const response = await server.handler(
    new Request(`http://service.test${url}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'POST' && { body }),
    }),
  );
  const { complaint, request: read } = server.exchanges[0] ?? {};
  return { status: response.status, complaint, model: read?.model };
}

describe('a mock service with rules for requests', () => {
  const rules: RequestRules = {
    path: '/models/{model}:ask',
    query: { alt: 'sse' },
    headers: { 'x-version': '2' },
    key: { header: 'x-key' },
  };
  const headers = { 'x-version': '2', 'x-key': 'one' };

  test('reads the model from the path, after the path of the base URL', async () => {
    const url = '/base/models/org%2Fa%20model:ask?alt=sse&more=1';
    expect(await sent(rules, url, { headers, keys: ['one'] })).toEqual({
      status: 200,
      model: 'org/a model',
      complaint: undefined,
    });
  });

  test.each([
    ['another path', '/models/a:say?alt=sse', {}, 404, 'The path is /models/a:say instead of'],
    ['a path without a model', '/models/:ask?alt=sse', {}, 404, 'The path is'],
    ['a path with more in it', '/models/a/b:ask?alt=sse', {}, 404, 'The path is'],
    ['another method', '/models/a:ask?alt=sse', { method: 'GET' }, 405, 'The method is GET'],
    ['no query', '/models/a:ask', {}, 400, 'The query parameter alt is null instead of sse.'],
    ['an unknown key', '/models/a:ask?alt=sse', { keys: ['two'] }, 401, 'The key in x-key is not valid: one'],
  ])('rejects %s', async (_, url, change, status, message) => {
    const found = await sent(rules, url, { headers, keys: ['one'], ...change });
    expect(found).toMatchObject({ status, complaint: expect.stringContaining(message) });
  });

  test('rejects a key that has expired, which is no mistake of the provider', async () => {
    const url = '/models/a:ask?alt=sse';
    expect(await sent(rules, url, { headers, keys: ['one', 'two'] })).toMatchObject({
      status: 401,
      complaint: undefined,
    });
  });

  test('requires no key if it knows none', async () => {
    expect(await sent({ path: '/ask', key: { header: 'x-key' } }, '/ask')).toMatchObject({ status: 200 });
  });
});

describe('binary frames', () => {
  const frame = (payload: unknown) => Uint8Array.of(0xff, JSON.stringify(payload).length, 0xfe);
  const testing: ProviderTesting = { ...scriptTesting, frame };
  const reply = replies(scriptResponse(['Hello.']), { torn: { type: 'end' } });

  test('are joined, torn and cut without being decoded', () => {
    const frames = framesOf(reply, testing);
    expect(frames.slice(0, -1).every((bytes) => bytes.length === 3 && bytes[0] === 0xff)).toBe(true);
    expect(frames.at(-1)).toHaveLength(2);
    const whole = joinFrames(frames);
    expect(joinFrames(chunksOf(frames, { size: 2 }))).toEqual(whole);
    expect(framed([7, 'ab'], testing)).toEqual(Uint8Array.of(0xff, 1, 0xfe, 0xff, 4, 0xfe));
  });
});
