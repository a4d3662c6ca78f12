import { AgentError, userMessage } from '@cobbler/agent';
import { resolveAgent } from '@cobbler/agent/config';
import type { TransportRequest } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import * as exported from '../src/index.ts';
import { createClaude } from '../src/index.ts';
import { acceptedFiles } from '../src/media.ts';

const apiKey = 'sk-ant-test-0123456789';

/** Returns the error that creating an agent throws. */
function refused(make: () => unknown): AgentError {
  try {
    make();
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('creation of an agent', () => {
  test('names the environment variable if there is no key', () => {
    const error = refused(() => createClaude({ env: {} }));
    expect(error).toMatchObject({ kind: 'invalid', code: 'no_key', provider: 'claude' });
    expect(error.message).toContain('ANTHROPIC_API_KEY');
  });

  test('treats a blank key as missing', () => {
    expect(refused(() => createClaude({ apiKey: ' "" ', env: { ANTHROPIC_API_KEY: '\n' } })).code).toBe(
      'no_key',
    );
  });

  test('rejects a key with a line break without showing it [P19]', () => {
    const error = refused(() => createClaude({ apiKey: 'sk-ant-half\nother-half', env: {} }));
    expect(error.code).toBe('bad_key');
    expect(JSON.stringify(error)).not.toContain('half');
  });

  test.each(['not a url', 'ftp://example.com', 'localhost:8080'])('rejects the base URL %j', (baseURL) => {
    expect(refused(() => createClaude({ apiKey, baseURL, env: {} }))).toMatchObject({
      kind: 'invalid',
      code: 'bad_url',
    });
  });

  test('rejects a temperature, except -1, which means unset', () => {
    expect(refused(() => createClaude({ apiKey, temperature: 1, env: {} })).code).toBe('no_sampling');
    expect(createClaude({ apiKey, temperature: -1, env: {} }).capabilities.sampling).toBe(false);
  });
});

describe('settings', () => {
  /** Returns the request that an agent with this configuration sends; it gets no response. */
  const posted = async (config: Parameters<typeof createClaude>[0]) => {
    const requests: TransportRequest[] = [];
    const agent = createClaude({
      env: {},
      retry: { retries: 0 },
      transport: (request) => {
        requests.push(request);
        return Promise.reject(new Error('This test has no network.'));
      },
      ...config,
    });
    await agent.run({ messages: [userMessage('Hello.')], tools: [] }).catch(() => {});
    const [request] = requests;
    if (request === undefined) throw new Error('Nothing was sent.');
    const body = JSON.parse(await new Blob([...request.body] as BlobPart[]).text()) as Record<
      string,
      unknown
    >;
    return { url: request.url, headers: request.headers, body };
  };

  test('ignores spaces, line breaks and quotes around the key', async () => {
    const { headers } = await posted({ apiKey: ` "${apiKey}"\n` });
    expect(headers['authorization']).toBe(`Bearer ${apiKey}`);
  });

  test('takes key and base URL from the given environment [S0.29]', async () => {
    const env = { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: 'http://gateway.test/claude/' };
    const { url, headers } = await posted({ env });
    expect(url).toBe('http://gateway.test/claude/v1/messages');
    expect(headers['authorization']).toBe(`Bearer ${apiKey}`);
  });

  test('resolves a model alias and defaults to the balanced model [S0.28]', async () => {
    expect(createClaude({ apiKey, env: {} }).model).toBe('claude-sonnet-5-5');
    expect((await posted({ apiKey, model: 'fast' })).body['model']).toBe('claude-haiku-5-5');
  });

  test('uses the default for a maximum of zero tokens [S0.3]', async () => {
    expect((await posted({ apiKey, maxTokens: 0 })).body['max_tokens']).toBe(16_384);
    expect((await posted({ apiKey, maxTokens: 99 })).body['max_tokens']).toBe(99);
  });

  test('declares the capabilities of the model, and its context window if known', () => {
    expect(createClaude({ apiKey, env: {} }).capabilities).toEqual({
      files: acceptedFiles,
      reasoning: true,
      parallelCalls: true,
      output: 'native',
      sampling: false,
      cacheUsage: true,
      contextTokens: 1_000_000,
    });
    const other = createClaude({ apiKey, env: {}, model: 'claude-of-tomorrow' });
    expect(other.capabilities).not.toHaveProperty('contextTokens');
    expect(createClaude({ apiKey, env: {}, thinking: 'disabled' }).capabilities.reasoning).toBe(false);
  });

  test('creates an agent through resolveAgent [S0.29]', () => {
    const env = { COBBLER_AGENT_API_KEY: apiKey };
    const agent = resolveAgent({ model: 'best' }, { claude: createClaude }, env);
    expect(agent).toMatchObject({ provider: 'claude', model: 'claude-opus-5-5' });
  });
});

test('exports only the factories and model data, no internals [S0.21]', () => {
  expect(Object.keys(exported).sort()).toEqual([
    'claudeHarness',
    'claudeModels',
    'claudePrice',
    'claudePrices',
    'claudePricing',
    'createClaude',
  ]);
});
