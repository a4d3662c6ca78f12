import { AgentError } from '@cobbler/agent';
import { handlerTransport } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import type { GeminiConfig } from '../src/index.ts';
import { createGemini, geminiModels, geminiPrice, geminiPrices, geminiPricing } from '../src/index.ts';
import { hello } from './service.ts';

/** Returns the request that an agent of this configuration sends. */
async function requestOf(config: GeminiConfig): Promise<Request> {
  const sent = Promise.withResolvers<Request>();
  const transport = handlerTransport((request) => {
    sent.resolve(request);
    return new Response('', { status: 400 });
  });
  await createGemini({ ...config, transport })
    .run({ messages: [hello], tools: [] })
    .catch(() => {});
  return sent.promise;
}

test.each([
  [{ apiKey: 'own' }, { GEMINI_API_KEY: 'gemini' }, 'own'],
  [{}, { GEMINI_API_KEY: ' "gemini" ', GOOGLE_API_KEY: 'google' }, 'gemini'],
  [{ apiKey: ' ' }, { GEMINI_API_KEY: '', GOOGLE_API_KEY: 'google' }, 'google'],
])('the key comes from the option or a variable: %o, %o [S0.2]', async (config, env, key) => {
  const { headers, url } = await requestOf({ ...config, env });
  expect(headers.get('x-goog-api-key')).toBe(key);
  expect(url).toBe(
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-4-hydrogen:streamGenerateContent?alt=sse',
  );
});

test('the address comes from the option or a variable, and the model cannot leave its path', async () => {
  const env = { GOOGLE_GEMINI_BASE_URL: 'http://proxy.test/' };
  expect((await requestOf({ apiKey: 'key', env, model: '../x?y' })).url).toBe(
    'http://proxy.test/v1beta/models/..%2Fx%3Fy:streamGenerateContent?alt=sse',
  );
  expect((await requestOf({ apiKey: 'key', env, baseURL: 'http://own.test/a' })).url).toContain(
    'http://own.test/a/v1beta/',
  );
});

test.each([
  ['no_key', {}],
  ['bad_key', { apiKey: 'a b' }],
  ['bad_url', { apiKey: 'key', baseURL: 'model.test' }],
  ['unsupported', { apiKey: 'key', search: true }],
])('%s', (code, config) => {
  try {
    createGemini({ env: {}, ...config });
    expect.fail('There was no error.');
  } catch (error) {
    expect(AgentError.is(error) && error.code).toBe(code);
  }
});

test('every model has a price, and every alias a model', () => {
  expect(geminiPrices.map(({ model }) => model)).toEqual(geminiModels.map(({ id }) => id));
  expect(geminiModels.flatMap(({ alias = [] }) => alias)).toEqual(['fast', 'balanced', 'best']);
  for (const { source } of geminiPrices) expect(Date.parse(source.on)).toBeGreaterThan(0);
  expect(geminiPrice('best')).toMatchObject({ input: 4, output: 20, cacheRead: 0.2 });
  expect(geminiPricing('gemini', 'gemini-4-neon')).toMatchObject({ input: 3, output: 15 });
  expect([geminiPricing('claude', 'gemini-4-neon'), geminiPrice('gemini-9')]).toEqual([undefined, undefined]);
});
