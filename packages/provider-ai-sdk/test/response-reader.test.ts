import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { writeTurn } from '../src/request/prompt.ts';
import { ResponseReader } from '../src/response/response-reader.ts';
import type { SinkCall, SinkPayload } from '../src/values/sink-call.ts';
import { isSinkCall } from '../src/values/sink-call.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 7, noCache: 4, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 2, reasoning: 3 },
};

function read(...parts: LanguageModelV4StreamPart[]): readonly SinkPayload[] {
  const reader = new ResponseReader();
  return parts.flatMap((part) => reader.read(part));
}

function finish(unified: 'stop' | 'other' | 'interrupted' | 'error' | 'tool-calls', raw?: string) {
  return { type: 'finish', usage, finishReason: { unified, raw } } as const;
}

function calls(words: readonly SinkPayload[], method: string): SinkCall[] {
  return words.filter(isSinkCall).filter(([name]) => name === method);
}

const garbled = [['fail', expect.objectContaining({ kind: 'broken' })]];

describe('the end of a response', () => {
  test.each([
    ['interrupted', undefined],
    ['error', 'error'],
    ['other', undefined],
  ] as const)('is not reported for a finish part with the reason %s [P1]', (unified, raw) => {
    expect(calls(read(finish(unified, raw)), 'end')).toEqual([]);
  });

  test('has the stop reason "unknown" if the service sends an unknown one [P4]', () => {
    expect(calls(read(finish('other', 'weather')), 'end')).toEqual([['end', 'unknown']]);
  });

  test('reports all token counts [S0.8]', () => {
    const counts = {
      inputTokens: 7,
      outputTokens: 5,
      cacheReadTokens: 2,
      cacheWriteTokens: 1,
      reasoningTokens: 3,
    };
    expect(read(finish('stop', 'end_turn'))[0]).toEqual(['usage', counts]);
  });
});

describe('blocks', () => {
  test('include a call that arrives without chunks', () => {
    const words = read({ type: 'tool-call', toolCallId: 'a', toolName: 'put', input: '{"value":1}' });
    expect(words).toEqual([
      ['call', 'call 0', 'a', 'put'],
      ['input', 'call 0', '{"value":1}'],
      ['close', 'call 0'],
    ]);
  });

  test('report a call that the service runs as ignored, because it would be lost [P27]', () => {
    const lost = ['ignore', 'a call that the service runs'];
    expect(
      read(
        { type: 'tool-input-start', id: 'a', toolName: 'search', providerExecuted: true },
        { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true },
      ),
    ).toEqual([lost, lost]);
  });

  test.each<[string, LanguageModelV4StreamPart[]]>([
    ['before the start of its block', [{ type: 'text-delta', id: '0', delta: 'x' }]],
    [
      'after the end of its block',
      [
        { type: 'reasoning-start', id: '0' },
        { type: 'reasoning-end', id: '0' },
        { type: 'reasoning-delta', id: '0', delta: 'x' },
      ],
    ],
    [
      'of a different type than its block',
      [
        { type: 'reasoning-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'x' },
      ],
    ],
    ['of a call that has not started', [{ type: 'tool-input-delta', id: 'a', delta: '{}' }]],
  ])('a chunk %s makes the response invalid [P27]', (_what, parts) => {
    expect(read(...parts).slice(-1)).toEqual(garbled);
  });

  test('keep the signature of reasoning that is interleaved with text [P12]', () => {
    const signed = {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'sig' },
    };
    const raw = (rawValue: object): LanguageModelV4StreamPart => ({ type: 'raw', rawValue });
    const words = read(
      raw({ type: 'message_start' }),
      raw({ type: 'content_block_start', index: 0, content_block: { type: 'thinking' } }),
      { type: 'reasoning-start', id: '0' },
      raw({ type: 'content_block_start', index: 1, content_block: { type: 'text' } }),
      { type: 'text-start', id: '1' },
      raw(signed),
    );
    const data = { of: 'reasoning', options: { anthropic: { signature: 'sig' } } };
    expect(words.at(-1)).toEqual(['seal', 'reasoning 0', data]);
  });

  test('return the metadata of a text with that text [P12]', () => {
    const words = read(
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'So.' },
      { type: 'text-end', id: 't', providerMetadata: { google: { thoughtSignature: 'abc' } } },
    );
    const [seal] = calls(words, 'seal');
    const [message] = writeTurn(
      {
        side: 'assistant',
        parts: [
          { type: 'text', text: 'So.' },
          {
            type: 'opaque',
            seal: { provider: 'ai-sdk.google', data: seal?.[0] === 'seal' ? seal[2] : null },
          },
        ],
      },
      'inside',
    );
    expect(message).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'So.', providerOptions: { google: { thoughtSignature: 'abc' } } }],
    });
  });

  test('return the metadata of a call with that call [P12]', () => {
    const words = read({
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'put',
      input: '{}',
      providerMetadata: { google: { thoughtSignature: 'xyz' } },
    });
    const [seal] = calls(words, 'seal');
    const [message] = writeTurn(
      {
        side: 'assistant',
        parts: [
          {
            type: 'tool_call',
            id: 'a',
            toolName: 'put',
            arguments: {},
            seal: { provider: 'ai-sdk.google', data: seal?.[0] === 'seal' ? seal[2] : null },
          },
        ],
      },
      'inside',
    );
    expect(message).toMatchObject({
      content: [{ toolCallId: 'a', providerOptions: { google: { thoughtSignature: 'xyz' } } }],
    });
  });
});

describe('failures', () => {
  const misfit = (value: unknown): LanguageModelV4StreamPart => ({
    type: 'error',
    error: { name: 'AI_TypeValidationError', message: 'Type validation failed.', value },
  });

  test.each([
    { type: 'message_weather', forecast: 'fair' },
    { type: 'content_block_delta', index: 'x', delta: { type: 'text_delta', text: 'lost' } },
    {},
  ])('pass on the event %j, which the SDK cannot read, to be checked for data [P1, P27]', (event) => {
    expect(read(misfit(event))).toEqual([event]);
  });

  test('do not treat an event that the SDK cannot read as a sink call', () => {
    expect(read(misfit(['end', 'complete'])).filter(isSinkCall)).toEqual([]);
  });

  test('report an error that the SDK cannot read as an invalid response [P1]', () => {
    expect(read(misfit({ error: {} }))).toEqual(garbled);
  });

  test.each([
    [{ statusCode: 529, message: 'Overloaded', type: 'overloaded_error' }, 'busy'],
    [{ statusCode: 429, message: 'Slow down', type: 'rate_limit_error' }, 'rate_limit'],
    [{ statusCode: 400, message: 'prompt is too long: 9 tokens' }, 'too_long'],
    [{ statusCode: 401, message: 'No.' }, 'auth'],
    [{ message: 'Something.' }, 'agent'],
  ])('map the failure %j to the kind %s [P5]', (error, kind) => {
    expect(read({ type: 'error', error })).toMatchObject([['fail', { kind }]]);
  });
});
