import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { writeTurn } from '../src/request/prompt.ts';
import { ResponseReader } from '../src/response/response-reader.ts';
import type { SinkCall } from '../src/values/sink-call.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 7, noCache: 4, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 2, reasoning: 3 },
};

function read(...parts: LanguageModelV4StreamPart[]): readonly SinkCall[] {
  const reader = new ResponseReader();
  return parts.flatMap((part) => reader.read(part));
}

function finish(unified: 'stop' | 'other' | 'interrupted' | 'error' | 'tool-calls', raw?: string) {
  return { type: 'finish', usage, finishReason: { unified, raw } } as const;
}

const ends = (words: readonly SinkCall[]) => words.filter(({ say }) => say === 'end');

describe('the end of an answer', () => {
  test.each([
    ['interrupted', undefined],
    ['error', 'error'],
    ['other', undefined],
  ] as const)('a finish part that says %s is no end [P1]', (unified, raw) => {
    expect(ends(read(finish(unified, raw)))).toEqual([]);
  });

  test('a word that nobody knows is an end for an unknown reason [P4]', () => {
    expect(ends(read(finish('other', 'weather')))).toEqual([
      { say: 'end', reason: 'unknown', raw: 'weather' },
    ]);
  });

  test('reports all counts of a usage [S0.8]', () => {
    expect(read(finish('stop', 'end_turn'))[0]).toEqual({
      say: 'usage',
      counts: {
        inputTokens: 7,
        outputTokens: 5,
        cacheReadTokens: 2,
        cacheWriteTokens: 1,
        reasoningTokens: 3,
      },
    });
  });
});

describe('blocks', () => {
  test('a call that comes without its pieces is a call', () => {
    const words = read({ type: 'tool-call', toolCallId: 'a', toolName: 'put', input: '{"value":1}' });
    expect(words).toEqual([
      { say: 'call', at: 'call 0', id: 'a', name: 'put' },
      { say: 'input', at: 'call 0', delta: '{"value":1}' },
      { say: 'close', at: 'call 0' },
    ]);
  });

  test('a call that the service runs itself is named, because it would be lost [P27]', () => {
    const lost = { say: 'ignore', kind: 'a call that the service runs' };
    expect(
      read(
        { type: 'tool-input-start', id: 'a', toolName: 'search', providerExecuted: true },
        { type: 'tool-input-delta', id: 'a', delta: '{}' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true },
      ),
    ).toEqual([lost, lost]);
  });

  test('the signature of a thought told in turns with a text is kept [P12]', () => {
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
    expect(words.at(-1)).toEqual({
      say: 'seal',
      at: 'reasoning 0',
      data: { of: 'reasoning', options: { anthropic: { signature: 'sig' } } },
    });
  });

  test('what is attached to a text comes back with that text [P12]', () => {
    const words = read(
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'So.' },
      { type: 'text-end', id: 't', providerMetadata: { google: { thoughtSignature: 'abc' } } },
    );
    const seal = words.find((word) => word.say === 'seal');
    const [message] = writeTurn(
      {
        side: 'assistant',
        parts: [
          { type: 'text', text: 'So.' },
          { type: 'opaque', seal: { provider: 'ai-sdk.google', data: seal?.data ?? null } },
        ],
      },
      'inside',
    );
    expect(message).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'So.', providerOptions: { google: { thoughtSignature: 'abc' } } }],
    });
  });

  test('what is attached to a call comes back with that call [P12]', () => {
    const words = read({
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'put',
      input: '{}',
      providerMetadata: { google: { thoughtSignature: 'xyz' } },
    });
    const seal = words.find((word) => word.say === 'seal');
    const [message] = writeTurn(
      {
        side: 'assistant',
        parts: [
          {
            type: 'tool_call',
            id: 'a',
            toolName: 'put',
            arguments: {},
            seal: { provider: 'ai-sdk.google', data: seal?.data ?? null },
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

  test('an event of an unknown type is passed on, to be checked for data [P27]', () => {
    const event = { type: 'message_weather', forecast: 'fair' };
    expect(read(misfit(event))).toEqual([{ say: 'unknown', event }]);
  });

  test('an event of a known kind that does not fit is a garbled answer [P1]', () => {
    const text = { type: 'content_block_delta', index: 'x', delta: { type: 'text_delta', text: 'lost' } };
    expect(read(misfit(text))).toMatchObject([{ say: 'fail', kind: 'broken' }]);
  });

  test.each([
    [{ statusCode: 529, message: 'Overloaded', type: 'overloaded_error' }, 'busy'],
    [{ statusCode: 429, message: 'Slow down', type: 'rate_limit_error' }, 'rate_limit'],
    [{ statusCode: 400, message: 'prompt is too long: 9 tokens' }, 'too_long'],
    [{ statusCode: 401, message: 'No.' }, 'auth'],
    [{ message: 'Something.' }, 'agent'],
  ])('the failure %j is of kind %s [P5]', (error, kind) => {
    expect(read({ type: 'error', error })).toMatchObject([{ say: 'fail', kind }]);
  });
});
