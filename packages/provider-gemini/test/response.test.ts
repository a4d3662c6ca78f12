import type { AgentError } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { chunk, done, hello, served, stream } from './service.ts';

const ask = (...replies: MockReply[]) => served(replies).agent.run({ messages: [hello], tools: [] });
const errorOf = (...replies: MockReply[]): Promise<AgentError> =>
  ask(...replies).then(
    () => expect.fail('The request succeeded.'),
    (error) => error,
  );

test.each(['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'ESCALATION'])(
  '%s is a refusal',
  async (reason) => {
    expect(await ask(stream(chunk([{ text: 'I' }], reason)))).toMatchObject({
      stopReason: 'refusal',
      content: 'I',
    });
  },
);

test('a blocked prompt is a refusal', async () => {
  const blocked = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 7 },
  };
  expect(await ask(stream(blocked))).toMatchObject({ stopReason: 'refusal', usage: { inputTokens: 7 } });
});

test.each([
  ['MAX_TOKENS', 'max_tokens'],
  ['CONTINUATION', 'max_tokens'],
  ['OTHER', 'unknown'],
])('%s is %s', async (reason, stopReason) => {
  expect(await ask(stream(chunk([{ text: 'I' }], reason)))).toMatchObject({ stopReason });
});

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'])(
  '%s is a broken response, which is retried [P1]',
  async (reason) => {
    const candidate = { finishReason: reason, finishMessage: 'Malformed function call: print(' };
    const error = await errorOf(stream({ candidates: [candidate] }));
    expect(error).toMatchObject({ kind: 'network', retryable: true });
    expect(error.message).toContain('print(');
  },
);

test('an account that is limited is reported like a rejected key', async () => {
  expect(await errorOf(stream(chunk([], 'PUP_LIMITED_DISABLED')))).toMatchObject({ kind: 'auth' });
});

test('a stream without a finish reason was cut off [P1]', async () => {
  const error = await errorOf(stream(chunk([{ text: 'All of it.' }])));
  expect(error).toMatchObject({ kind: 'network', retryable: true });
});

test('a call that arrives twice never runs', async () => {
  const call = { functionCall: { id: 'a', name: 'getWeather', args: {} } };
  expect(await errorOf(stream(chunk([call]), chunk([call], 'STOP')))).toMatchObject({ kind: 'network' });
});

test('input includes the results of tools and what the cache contained [S0.8]', async () => {
  const usageMetadata = {
    promptTokenCount: 100,
    toolUsePromptTokenCount: 20,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 7,
  };
  const { usage } = await ask(stream({ ...chunk([{ text: 'Yes.' }], 'STOP'), usageMetadata }));
  expect(usage).toEqual({ inputTokens: 120, cacheReadTokens: 60, outputTokens: 12, reasoningTokens: 7 });
});

test('an image in a response is not lost silently [P27]', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  expect((await errorOf(stream(chunk([image], 'STOP')))).message).toContain('part.inlineData');
});

describe('an error', () => {
  const fails = (status: number, error: object, wrap = (body: object): object => body): MockReply => ({
    ...{ type: 'raw', status, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(wrap({ error })),
  });

  test('about the key is recognized by its reason, because its status is that of a bad request', async () => {
    // ai.google.dev/gemini-api/docs/troubleshooting; gh google-gemini/gemini-cli
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    const message = 'API key not valid. Please pass a valid API key.';
    const error = await errorOf(fails(400, { code: 400, status: 'INVALID_ARGUMENT', message, details }));
    expect(error).toMatchObject({ kind: 'auth', message: expect.stringContaining(message) });
  });

  test('contains the delay that the service asks for', async () => {
    // gh googleapis/python-genai#2114
    const message = 'You exceeded your current quota. Please retry in 58.934310785s.';
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '58s' },
    ];
    const error = await errorOf(fails(429, { code: 429, status: 'RESOURCE_EXHAUSTED', message, details }));
    expect(error).toMatchObject({ kind: 'rate_limit', retryAfterMs: 58_000 });
  });

  test('about the length lets a context policy shorten the conversation', async () => {
    // gh google-gemini/gemini-cli#6678
    const message = 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).';
    const error = await errorOf(
      fails(400, { code: 400, status: 'INVALID_ARGUMENT', message }, (body) => [body]),
    );
    expect(error).toMatchObject({ kind: 'invalid', code: 'context_full' });
  });

  test('inside the stream is an error of the same kind', async () => {
    const error = {
      code: 503,
      status: 'UNAVAILABLE',
      message: 'The model is overloaded. Please try again later.',
    };
    expect(await errorOf(stream(chunk([{ text: 'I' }]), { error }), done)).toMatchObject({
      kind: 'rate_limit',
    });
  });
});
