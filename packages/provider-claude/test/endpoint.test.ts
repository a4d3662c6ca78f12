import { expect, test } from 'vitest';
import { askClient } from '../src/create-claude.ts';

const account = { apiKey: 'sk-test-1', baseURL: 'https://api.anthropic.com' };

test('takes URL, key header and API version from buildRequest of the vendor client', async () => {
  const { url, headers, secrets } = await askClient(account);
  expect(url).toBe('https://api.anthropic.com/v1/messages');
  expect(headers).toMatchObject({
    authorization: 'Bearer sk-test-1',
    'anthropic-version': '2026-10-21',
    'content-type': 'application/json',
    accept: 'text/event-stream',
  });
  expect(headers['user-agent']).toMatch(/^Anthropic\/JS 1\./);
  expect(secrets).toEqual(['sk-test-1']);
});

test('omits the retry and timeout headers of the client, which sends no request', async () => {
  const { headers } = await askClient(account);
  expect(Object.keys(headers).filter((name) => /retry|timeout/.test(name))).toEqual([]);
});

test('keeps the path of another base URL', async () => {
  const { url } = await askClient({ ...account, baseURL: 'http://127.0.0.1:9/proxy' });
  expect(url).toBe('http://127.0.0.1:9/proxy/v1/messages');
});
