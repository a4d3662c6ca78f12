import type { Transport, WireRequest } from '@cobbler/agent/provider';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cacheFields, cacheOf } from '../src/cache-fields.ts';
import { createOpenAI } from '../src/index.ts';

const request: WireRequest = { model: 'gpt-6.1-sol', system: ['Be brief.'], tools: [], toolChoice: 'auto' };
const tool = { name: 'look_up', description: 'Looks a word up.', parameters: { type: 'object' } };

describe('the cache key', () => {
  const key = (change: Partial<WireRequest> = {}) => cacheFields({ ...request, ...change }).prompt_cache_key;

  test('is the same for requests with the same model, system texts and tools', () => {
    expect(key()).toMatch(/^cobbler-[0-9a-f]{16}$/);
    expect(key({ maxTokens: 5, toolChoice: 'none', effort: 'low', keepMs: 0 })).toBe(key());
    expect(key({ system: ['Be brief.'], tools: [] })).toBe(key());
  });

  test('changes with the model, the tools, the system texts, or their order', () => {
    const changes: Partial<WireRequest>[] = [
      {},
      { model: 'gpt-6-luna' },
      { system: [] },
      { system: ['Be', 'brief.'] },
      { system: ['brief.', 'Be'] },
      { tools: [tool] },
      { tools: [{ ...tool, name: 'put' }, tool] },
      { tools: [tool, { ...tool, name: 'put' }] },
    ];
    expect(new Set(changes.map(key)).size).toBe(changes.length);
  });
});

test('disables cache writes if no further request is expected in time', () => {
  expect(cacheFields({ ...request, keepMs: 0 })).toMatchObject({
    prompt_cache_options: { mode: 'explicit' },
  });
  expect(cacheFields({ ...request, keepMs: 1_800_000 })).not.toHaveProperty('prompt_cache_options');
  expect(cacheFields(request)).not.toHaveProperty('prompt_cache_options');
});

test('describes the cache only for OpenAI itself and models that charge for cache writes', () => {
  const at = (official: boolean) => ({ baseURL: 'https://example.org', official });
  expect(cacheOf(at(true), 'gpt-6.1-sol').cache?.lifetimes).toHaveLength(1);
  expect([cacheOf(at(false), 'gpt-6.1-sol'), cacheOf(at(true), 'gpt-5.1')]).toEqual([{}, {}]);
});

describe('the cache fields of requests', () => {
  /** Returns the cache fields of four requests, with pauses of three hours, 1 s and 1 s. */
  async function sent(config: object): Promise<unknown[]> {
    const bodies: Record<string, unknown>[] = [];
    const transport: Transport = ({ body }) => {
      bodies.push(JSON.parse(Buffer.concat(body).toString()) as Record<string, unknown>);
      return Promise.reject(new Error('This transport sends no request.'));
    };
    const runtime = fakeRuntime();
    const agent = createOpenAI({
      env: {},
      apiKey: 'sk-test',
      transport,
      runtime,
      retry: { retries: 0 },
      ...config,
    });
    const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi.' }] }];
    for (const pause of [0, 10_800_000, 1_000, 1_000]) {
      await runtime.advance(pause);
      await agent.run({ messages, tools: [] }).catch(() => undefined);
    }
    return bodies.map((body) => [typeof body['prompt_cache_key'], body['prompt_cache_options']]);
  }

  const off = { mode: 'explicit' };

  test.each(['responses', 'chat'])(
    'always contain a key for OpenAI over %s, and disable writes that do not pay off',
    async (api) => {
      expect(await sent({ api })).toEqual([
        ['string', undefined],
        ['string', off],
        ['string', undefined],
        ['string', undefined],
      ]);
    },
  );

  test('contain only the key for an OpenAI model with free cache writes', async () => {
    const plain = ['string', undefined];
    expect(await sent({ model: 'gpt-5.1' })).toEqual([plain, plain, plain, plain]);
  });

  test('are absent for a compatible server', async () => {
    const nothing = ['undefined', undefined];
    expect(await sent({ baseURL: 'http://localhost:1/v1', model: 'gpt-6.1-sol' })).toEqual([
      nothing,
      nothing,
      nothing,
      nothing,
    ]);
  });
});
