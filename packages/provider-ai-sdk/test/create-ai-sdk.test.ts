import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import { AgentError, userMessage } from '@cobbler/agent';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { describe, expect, test } from 'vitest';
import { anthropicModel } from '../src/anthropic.ts';
import { createAiSdk } from '../src/index.ts';
import { openaiModel } from '../src/openai.ts';
import { betweenAnthropic, throughAiSdk } from '../src/testing/index.ts';
import { withService } from './service.ts';

const hello = { messages: [userMessage('Hello.')], tools: [] };
const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

/** Returns a model from another package that emits these parts or throws. */
function madeElsewhere(tell: () => readonly LanguageModelV4StreamPart[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'elsewhere.chat',
    modelId: 'model-1',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('must not be called')),
    async doStream() {
      const parts = tell();
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

const text: readonly LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Good day.' },
  { type: 'text-end', id: 't' },
];

describe('a model from another package', () => {
  test('rejects the search of the provider', () => {
    const refusal = expect.objectContaining({ code: 'unsupported' });
    expect(() => anthropicModel({ apiKey: 'k', search: true })).toThrow(refusal);
    expect(() => openaiModel({ apiKey: 'k', search: true })).toThrow(refusal);
  });

  test('becomes an agent with its provider name and model id [S3.7]', async () => {
    const stop: LanguageModelV4StreamPart = {
      type: 'finish',
      usage,
      finishReason: { unified: 'stop', raw: 'stop' },
    };
    const agent = createAiSdk({ model: madeElsewhere(() => [...text, stop]) });
    expect([agent.provider, agent.model]).toEqual(['ai-sdk.elsewhere.chat', 'model-1']);
    const answer = await agent.run(hello);
    expect([answer.content, answer.stopReason]).toEqual(['Good day.', 'complete']);
    expect(answer.usage).toEqual({ inputTokens: 3, outputTokens: 2 });
  });

  test('fails if its stream has no finish part [P1]', async () => {
    const agent = createAiSdk({ model: madeElsewhere(() => text), retry: { retries: 0 } });
    await expect(agent.run(hello)).rejects.toMatchObject({ kind: 'network', code: 'cut' });
  });

  test('fails if its stream is interrupted [P1]', async () => {
    const cut: LanguageModelV4StreamPart = {
      type: 'finish',
      usage,
      finishReason: { unified: 'interrupted', raw: undefined },
    };
    const agent = createAiSdk({ model: madeElsewhere(() => [...text, cut]), retry: { retries: 0 } });
    await expect(agent.run(hello)).rejects.toMatchObject({ kind: 'network', code: 'cut' });
  });

  test('maps an error by its status and keeps the requested wait [P6]', async () => {
    const limited = madeElsewhere(() => {
      throw new APICallError({
        message: 'Slow down.',
        url: 'https://elsewhere.test',
        requestBodyValues: {},
        statusCode: 429,
        responseHeaders: { 'retry-after': '7' },
        responseBody: '{"error":{"message":"Slow down."}}',
      });
    });
    const agent = createAiSdk({ model: limited, retry: { retries: 0 } });
    await expect(agent.run(hello)).rejects.toMatchObject({
      kind: 'rate_limit',
      status: 429,
      retryAfterMs: 7000,
    });
  });

  test('is aborted immediately even if it ignores the signal [P3]', async () => {
    const deaf: LanguageModelV4 = {
      ...madeElsewhere(() => []),
      doStream: () => new Promise(() => {}),
    };
    const abort = new AbortController();
    const run = createAiSdk({ model: deaf }).run(hello, { signal: abort.signal });
    abort.abort();
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
  });

  test('is rejected with advice if its version is unsupported', () => {
    const old = { ...madeElsewhere(() => []), specificationVersion: 'v2' } as unknown as LanguageModelV4;
    expect(() => createAiSdk({ model: old })).toThrow(/version is v2.*Pass a model/s);
  });
});

describe('the built-in services', () => {
  test.each([
    ['ANTHROPIC_API_KEY', () => anthropicModel({ env: {} })],
    ['OPENAI_API_KEY', () => openaiModel({ env: {} })],
  ])('report a missing key immediately and name %s', (name, make) => {
    expect(make).toThrow(AgentError);
    expect(make).toThrow(name);
  });

  test('use claude-haiku-4-5 for Anthropic unless ANTHROPIC_MODEL is set [S3.8]', () => {
    const named = (env: Record<string, string>) =>
      createAiSdk(anthropicModel({ env: { ANTHROPIC_API_KEY: 'sk-test', ...env } })).model;
    expect([named({}), named({ ANTHROPIC_MODEL: 'claude-opus-4-6' })]).toEqual([
      'claude-haiku-4-5',
      'claude-opus-4-6',
    ]);
  });

  test('require no key for an OpenAI-compatible server', () => {
    expect(createAiSdk(openaiModel({ env: {}, baseURL: 'http://127.0.0.1:11434/v1' })).provider).toBe(
      'ai-sdk.openai.chat',
    );
  });

  test('pass a fetch to a function that creates the model', async () => {
    const testing = throughAiSdk(claudeTesting, betweenAnthropic);
    await withService(testing, [replies(scriptResponse(['Fine.']))], async ({ url, exchanges }) => {
      const agent = createAiSdk({
        model: ({ fetch }) =>
          createAnthropic({ apiKey: 'sk-own', baseURL: `${url}/v1`, fetch })('claude-haiku-4-5'),
        secrets: ['sk-own'],
      });
      expect((await agent.run(hello)).content).toBe('Fine.');
      expect(exchanges.map(({ complaint, headers }) => [complaint, headers.get('x-api-key')])).toEqual([
        [undefined, 'sk-own'],
      ]);
    });
  });
});
