import type { Transport, WireRequest } from '@cobbler/agent/provider';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cacheFields, cacheOf, takesCacheKey } from '../src/cache-fields.ts';
import { createOpenAI } from '../src/index.ts';

const request: WireRequest = { model: 'gpt-6.1-sol', system: ['Be brief.'], tools: [], toolChoice: 'auto' };
const tool = { name: 'look_up', description: 'Looks a word up.', parameters: { type: 'object' } };

/** Returns the bodies that a new agent sends, each after a pause. */
async function bodiesOf(
  config: object,
  requests: readonly { system?: readonly string[]; afterMs?: number }[],
): Promise<Record<string, unknown>[]> {
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
  for (const { system = [], afterMs = 0 } of requests) {
    await runtime.advance(afterMs);
    await agent.run({ messages, tools: [], system }).catch(() => undefined);
  }
  return bodies;
}

describe('the cache key', () => {
  const key = (change: Partial<WireRequest> = {}) => cacheFields({ ...request, ...change }).prompt_cache_key;

  test('is the same for requests with the same model, first system text and tools', () => {
    expect(key()).toMatch(/^cobbler-[0-9a-f]{16}$/);
    expect(key({ maxTokens: 5, toolChoice: 'none', effort: 'low', keepMs: 0 })).toBe(key());
    expect(key({ system: ['Be brief.'], tools: [] })).toBe(key());
    expect(key({ system: ['Be brief.', 'A note.', 'Today is Monday.'] })).toBe(key());
  });

  test('changes with the model, the first system text, the tools, or their order', () => {
    const changes: Partial<WireRequest>[] = [
      {},
      { model: 'gpt-6-luna' },
      { system: [] },
      { system: ['Be', 'brief.'] },
      { tools: [tool] },
      { tools: [{ ...tool, name: 'put' }, tool] },
      { tools: [tool, { ...tool, name: 'put' }] },
    ];
    expect(new Set(changes.map(key)).size).toBe(changes.length);
  });
});

describe('the key is sent', () => {
  test.each([
    ['https://api.openai.com/v1', ['responses', 'chat']],
    ['https://eu.api.openai.com/v1', ['responses', 'chat']],
    ['https://acme.openai.azure.com/openai/v1', ['responses', 'chat']],
    ['https://openrouter.ai/api/v1', ['responses', 'chat']],
    ['https://api.mistral.ai/v1', ['chat']],
    ['https://api.x.ai/v1', ['responses']],
    ['https://integrate.api.nvidia.com/v1', []],
    ['https://api.groq.com/openai/v1', []],
    ['https://openai.azure.com.example.org/v1', []],
    ['http://localhost:11434/v1', []],
  ])('to %s over %j', async (baseURL, apis) => {
    const found: string[] = [];
    for (const api of ['responses', 'chat'] as const) {
      const [body] = await bodiesOf({ baseURL, api }, [{}]);
      if (body?.['prompt_cache_key'] !== undefined) found.push(api);
      expect(body).not.toHaveProperty('prompt_cache_options');
    }
    expect(found).toEqual(apis);
  });

  test('at Azure only for OpenAI models, because others reject it', () => {
    const azure = { baseURL: 'https://acme.openai.azure.com/openai/v1', official: false };
    const takes = (model: string) => takesCacheKey(azure, 'chat', model);
    expect(['gpt-6.1-sol', 'o3', 'codex-mini'].map(takes)).toEqual([true, true, true]);
    expect(['Kimi-K2.5', 'DeepSeek-V3', 'gpt-oss-120b', 'my-model'].some(takes)).toBe(false);
  });

  test.each(['responses', 'chat'])(
    'the same over %s in every request of a conversation, in another process and on another day',
    async (api) => {
      const on = (day: string) => ({ system: ['Be brief.', `Today is ${day}.`] });
      const monday = await bodiesOf({ api }, [on('Monday'), on('Monday')]);
      const tuesday = await bodiesOf({ api }, [on('Tuesday')]);
      const keys = [...monday, ...tuesday].map((body) => body['prompt_cache_key']);
      expect(keys).toEqual(keys.map(() => expect.stringMatching(/^cobbler-[0-9a-f]{16}$/)));
      expect(new Set(keys).size).toBe(1);
    },
  );
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
    const bodies = await bodiesOf(config, [
      {},
      { afterMs: 10_800_000 },
      { afterMs: 1_000 },
      { afterMs: 1_000 },
    ]);
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
