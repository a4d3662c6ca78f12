import { readdirSync, readFileSync } from 'node:fs';
import { AgentError, userMessage } from '@cobbler/agent';
import type { Transport } from '@cobbler/agent/provider';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { addressOf, endpointOf } from '../src/endpoint.ts';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { fine, withService } from './service.ts';

const ask = { messages: [userMessage('Hi.')], tools: [] };

function thrownBy(make: () => unknown): AgentError {
  try {
    make();
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('the model [S0.28]', () => {
  test('defaults to the balanced one and is resolved from an alias', () => {
    const model = (name?: string) =>
      createOpenAI({ apiKey: 'sk-test', env: {}, ...(name !== undefined && { model: name }) }).model;
    expect([model(), model('fast'), model('best'), model('gpt-4.1')]).toEqual([
      'gpt-6.1-sol',
      'gpt-6-luna',
      'gpt-6-astra',
      'gpt-4.1',
    ]);
  });

  test('declares its capabilities: only models without reasoning accept a temperature', () => {
    const sol = createOpenAI({ apiKey: 'sk-test', env: {} }).capabilities;
    const old = createOpenAI({ apiKey: 'sk-test', env: {}, model: 'gpt-4.1' }).capabilities;
    expect(sol).toMatchObject({
      reasoning: true,
      sampling: false,
      output: 'native',
      contextTokens: 1_050_000,
    });
    expect(old).toMatchObject({ reasoning: false, sampling: true });
    expect('contextTokens' in old).toBe(false);
  });

  test('rejects a temperature before a request is sent if it reasons', async () => {
    const agent = createOpenAI({
      apiKey: 'sk-test',
      env: {},
      transport: () => Promise.reject(new Error('sent')),
    });
    await expect(agent.run({ ...ask, config: { temperature: 0.5 } })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });
});

describe('the key [S0.29]', () => {
  test('is required for OpenAI, and the error names the environment variable', () => {
    const error = thrownBy(() => createOpenAI({ env: {} }));
    expect(error).toMatchObject({ kind: 'invalid', code: 'no_key' });
    expect(error.message).toContain('OPENAI_API_KEY');
    expect(thrownBy(() => createOpenAI({ env: { OPENAI_API_KEY: ' ' } })).code).toBe('no_key');
  });

  test('is read from the configuration before the environment, without spaces and quotes', () => {
    const env = { OPENAI_API_KEY: '"sk-env"\n' };
    expect(addressOf({ env }).apiKey).toBe('sk-env');
    expect(addressOf({ env, apiKey: 'sk-own' }).apiKey).toBe('sk-own');
  });

  test('is rejected without being shown if it is malformed [P19]', () => {
    const error = thrownBy(() => createOpenAI({ env: {}, apiKey: 'sk-one\nsk-two' }));
    expect(error).toMatchObject({ kind: 'invalid', code: 'bad_key' });
    expect(error.message).not.toContain('sk-');
  });

  test('is optional for a compatible server, which then gets no authorization header', async () => {
    await withService(chatTesting, fine, async ({ url, exchanges }) => {
      await createOpenAI({ env: {}, baseURL: url, model: 'llama3.3' }).run(ask);
      await createOpenAI({ env: {}, baseURL: url, model: 'llama3.3', apiKey: 'sk-local' }).run(ask);
      expect(exchanges.map(({ headers }) => headers.get('authorization'))).toEqual([null, 'Bearer sk-local']);
    });
  });
});

describe('the base URL', () => {
  test('selects the API, unless configured: Responses for OpenAI, Chat Completions for other servers', async () => {
    const urls: string[] = [];
    const transport: Transport = ({ url }) => {
      urls.push(url);
      return Promise.reject(new Error('This transport sends no request.'));
    };
    const elsewhere = 'http://localhost:11434/v1';
    const configs = [
      {},
      { api: 'chat' },
      { baseURL: 'https://eu.api.openai.com/v1/' },
      { baseURL: elsewhere },
      { baseURL: elsewhere, api: 'responses' },
      { baseURL: 'https://api.openai.com.example.org/v1' },
      { env: { OPENAI_BASE_URL: elsewhere } },
    ] as const;
    for (const config of configs) {
      const agent = createOpenAI({ apiKey: 'sk-test', env: {}, transport, retry: { retries: 0 }, ...config });
      await agent.run(ask).catch(() => {});
    }
    expect(urls).toEqual([
      'https://api.openai.com/v1/responses',
      'https://api.openai.com/v1/chat/completions',
      'https://eu.api.openai.com/v1/responses',
      'http://localhost:11434/v1/chat/completions',
      'http://localhost:11434/v1/responses',
      'https://api.openai.com.example.org/v1/chat/completions',
      'http://localhost:11434/v1/chat/completions',
    ]);
  });

  test('is rejected if it is not an HTTP URL', () => {
    for (const baseURL of ['localhost:11434', 'not a url', 'ftp://example.org/v1']) {
      expect(thrownBy(() => createOpenAI({ env: {}, baseURL }))).toMatchObject({
        kind: 'invalid',
        code: 'bad_url',
      });
    }
  });

  test('allows ten minutes for the headers of other servers, because local models load slowly [P2]', async () => {
    const silent: Transport = () => new Promise(() => {});
    const failure = async (config: { readonly baseURL?: string; readonly apiKey?: string }, ms: number) => {
      const runtime = fakeRuntime();
      const agent = createOpenAI({
        env: {},
        model: 'm',
        runtime,
        transport: silent,
        retry: { retries: 0 },
        ...config,
      });
      let over: unknown;
      const running = agent.run(ask).catch((error: unknown) => {
        over = error;
      });
      // The vendor's client determines the address; its import takes real time.
      while (runtime.timers === 0) await new Promise((resolve) => setImmediate(resolve));
      await runtime.advance(ms);
      const early = over;
      await runtime.advance(700_000);
      await running;
      return early;
    };
    expect(await failure({ apiKey: 'sk-test' }, 61_000)).toMatchObject({ kind: 'timeout' });
    expect(await failure({ baseURL: 'http://localhost:11434/v1' }, 590_000)).toBeUndefined();
  });
});

describe('the vendor client', () => {
  test('provides the URL and headers of a route, without its retry and timeout headers', async () => {
    const env = { OPENAI_ORG_ID: 'org-1', OPENAI_PROJECT_ID: 'proj-1' };
    const { url, headers, secrets } = await endpointOf(addressOf({ env, apiKey: 'sk-test' }), '/responses');
    expect(url).toBe('https://api.openai.com/v1/responses');
    expect(secrets).toEqual(['sk-test']);
    expect(headers).toMatchObject({
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'openai-organization': 'org-1',
      'openai-project': 'proj-1',
    });
    expect(headers['user-agent']).toMatch(/^OpenAI\/JS 7\./);
    expect(Object.keys(headers).filter((name) => /retry-count|timeout|content-length/.test(name))).toEqual(
      [],
    );
  });

  test('sends no organization to another server', async () => {
    const env = { OPENAI_ORG_ID: 'org-1', OPENAI_PROJECT_ID: 'proj-1' };
    const { headers } = await endpointOf(addressOf({ env, baseURL: 'http://localhost:1/v1' }), '/responses');
    expect(Object.keys(headers).filter((name) => name.startsWith('openai-'))).toEqual([]);
  });

  test('is loaded on demand: source files import only its types statically', () => {
    const root = new URL('../src/', import.meta.url);
    const files = readdirSync(root, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.ts'));
    const eager = files.filter((file) =>
      /^(import(?! type)[^;]*|export[^;]*) from 'openai/m.test(readFileSync(new URL(file, root), 'utf8')),
    );
    expect(files.length).toBeGreaterThan(20);
    expect(eager).toEqual([]);
  });
});

describe('the request body', () => {
  test('disables storage and requests encrypted reasoning [P19]', async () => {
    await withService(responsesTesting, fine, async ({ url, exchanges }) => {
      const agent = createOpenAI({ api: 'responses', baseURL: url, env: {}, model: 'gpt-6.1-sol' });
      await agent.run({ ...ask, system: 'Be brief.', config: { effort: 'low', maxTokens: 99 } });
      await createOpenAI({
        api: 'responses',
        baseURL: url,
        env: {},
        model: 'gpt-4.1',
        reasoningSummary: 'off',
      }).run(ask);
      const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }];
      expect(exchanges.map(({ text }) => JSON.parse(text))).toEqual([
        {
          model: 'gpt-6.1-sol',
          stream: true,
          store: false,
          instructions: 'Be brief.',
          include: ['reasoning.encrypted_content'],
          reasoning: { effort: 'low', summary: 'auto' },
          max_output_tokens: 99,
          input,
        },
        { model: 'gpt-4.1', stream: true, store: false, input },
      ]);
    });
  });

  test('contains the older max_tokens and no OpenAI-only fields for a compatible server', async () => {
    await withService(chatTesting, fine, async ({ url, exchanges }) => {
      const agent = createOpenAI({ baseURL: url, env: {}, model: 'llama3.3' });
      await agent.run({
        ...ask,
        system: 'Be brief.',
        config: { effort: 'low', maxTokens: 99, temperature: 0.5 },
      });
      expect(JSON.parse(exchanges[0]?.text ?? '')).toEqual({
        model: 'llama3.3',
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 99,
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi.' },
        ],
      });
    });
  });
});
