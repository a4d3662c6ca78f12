import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { openaiModel } from '../src/openai.ts';
import { ResponseReader } from '../src/response/response-reader.ts';
import { isSinkCall } from '../src/values/sink-call.ts';

const extra = { google: { thought_signature: 'abc' } };
const options = { openaiCompatible: { extra_content: extra } };

function raw(...calls: object[]): LanguageModelV4StreamPart {
  return { type: 'raw', rawValue: { choices: [{ index: 0, delta: { tool_calls: calls } }] } };
}

/** Returns the body of the request that the SDK sends for a conversation with one call. */
async function sent(baseURL: string): Promise<string> {
  const bodies: string[] = [];
  const fetch = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(String(init?.body));
    throw new Error('nothing listens');
  };
  const call = { toolCallId: 'c1', toolName: 'look', input: {}, providerOptions: options };
  const prompt: LanguageModelV4Prompt = [
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    { role: 'assistant', content: [{ type: 'tool-call', ...call }] },
  ];
  const { model } = openaiModel({ env: {}, apiKey: 'sk-test', baseURL, api: 'chat' });
  if (typeof model !== 'function') throw new Error('expected a function');
  const made = await model({ fetch, call: { prompt } });
  await expect(made.doStream({ prompt })).rejects.toThrow();
  return bodies[0] ?? '';
}

describe('the extra content of a call', () => {
  test('is kept from the first or a later chunk of the call', () => {
    const reader = new ResponseReader();
    const parts: LanguageModelV4StreamPart[] = [
      raw({ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }),
      { type: 'tool-input-start', id: 'c1', toolName: 'look' },
      raw({ index: 0, function: { arguments: '{}' }, extra_content: extra }),
      { type: 'tool-input-delta', id: 'c1', delta: '{}' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{}' },
    ];
    const calls = parts.flatMap((part) => reader.read(part)).filter(isSinkCall);
    expect(calls.filter(([name]) => name === 'seal')).toEqual([['seal', 'call 0', { of: 'call', options }]]);
  });

  test('is sent back to a compatible service, but not to OpenAI', async () => {
    const added = '"extra_content":{"google":{"thought_signature":"abc"}}';
    expect(await sent('https://gemini.test/v1')).toContain(added);
    expect(await sent('https://api.openai.com/v1')).not.toContain('extra_content');
  });
});
