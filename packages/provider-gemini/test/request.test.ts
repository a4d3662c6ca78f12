import type { Message } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { createGemini } from '../src/index.ts';
import { done, hello, resultOf, served, tool } from './service.ts';

const pixel = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const sound = { type: 'file', mediaType: 'audio/wav', data: 'UklGRg==' } as const;

/** A turn of another provider with two calls, and their results. */
const foreign: readonly Message[] = [
  hello,
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', seal: { provider: 'claude', data: { signature: 'x' } } },
      {
        type: 'tool_call',
        id: 'a',
        toolName: 'getWeather',
        arguments: {},
        seal: { provider: 'openai', data: 'y' },
      },
      { type: 'tool_call', id: 'b', toolName: 'getWeather', arguments: {} },
    ],
  },
  resultOf('a'),
  resultOf('b'),
];

describe('a conversation that another provider started', () => {
  test('has the documented placeholder on the first call of each step [P12]', async () => {
    const { agent, sent } = served([done]);
    await agent.run({ messages: foreign, tools: [tool] });
    expect(sent().contents[1]?.parts).toEqual([
      {
        functionCall: { id: 'a', name: 'getWeather', args: {} },
        thoughtSignature: 'skip_thought_signature_validator',
      },
      { functionCall: { id: 'b', name: 'getWeather', args: {} } },
    ]);
  });

  test('has none for Gemini 2.5, which needs none', async () => {
    const { agent, sent } = served([done], { model: 'gemini-2.5-pro' });
    await agent.run({ messages: foreign, tools: [tool] });
    expect(JSON.stringify(sent())).not.toContain('thoughtSignature');
  });
});

describe('the files of a result', () => {
  const messages: Message[] = [
    ...foreign.slice(0, 2),
    {
      role: 'tool_result',
      toolCallId: 'a',
      isError: true,
      content: [{ type: 'text', text: 'No.' }, pixel, sound],
    },
    resultOf('b'),
  ];

  test('are inside it, or follow it if a result cannot contain them', async () => {
    const { agent, sent } = served([done]);
    await agent.run({ messages, tools: [tool] });
    const [first, second, third] = sent().contents[2]?.parts ?? [];
    expect(first?.functionResponse).toEqual({
      id: 'a',
      name: 'getWeather',
      response: { error: 'No.' },
      parts: [{ inlineData: { mimeType: 'image/png', data: pixel.data } }],
    });
    expect(second).toEqual({ inlineData: { mimeType: 'audio/wav', data: sound.data } });
    expect(third?.functionResponse?.id).toBe('b');
  });
});

test('any text is sent as plain text, the only text type of the service', async () => {
  const { agent, sent } = served([done]);
  const file = { type: 'file', mediaType: 'text/markdown', data: 'IyBUaXRsZQ==' } as const;
  await agent.run({ messages: [{ role: 'user', content: [file] }], tools: [] });
  expect(sent().contents[0]?.parts).toEqual([{ inlineData: { mimeType: 'text/plain', data: file.data } }]);
});

test.each([
  ['gemini-4-hydrogen', 'max', { thinkingLevel: 'xhigh' }],
  ['gemini-4-neon', 'high', { thinkingLevel: 'high' }],
  ['gemini-4-carbon', 'max', { thinkingLevel: 'high' }],
  ['gemini-flash-latest', 'low', { thinkingLevel: 'low' }],
  ['gemini-2.5-flash', 'medium', { thinkingBudget: 8192 }],
  ['gemini-2.5-pro', undefined, {}],
] as const)('%s with the effort %s', async (model, effort, amount) => {
  const { agent, sent } = served([done], { model, ...(effort && { effort }) });
  await agent.run({ messages: [hello], tools: [] });
  expect(sent().generationConfig).toEqual({ thinkingConfig: { includeThoughts: true, ...amount } });
});

test('models that do not think get no field for it and no effort', async () => {
  const { agent, sent } = served([done], { model: 'gemini-2.0-flash' });
  await agent.run({ messages: [hello], tools: [] });
  expect(sent().generationConfig).toEqual({});
  expect(() => createGemini({ apiKey: 'key', model: 'gemini-2.0-flash', effort: 'low' })).toThrow('effort');
});

test('a constant in an output schema is sent as an enum, and nothing else changes [S0.2]', async () => {
  const { agent, sent } = served([done], { model: 'best' });
  const schema = {
    type: 'object',
    properties: { const: { type: 'string' }, kind: { const: 'a' }, list: { enum: [{ const: 1 }] } },
    required: ['const'],
  };
  await agent.run({ messages: [hello], tools: [tool], output: { name: 'facts', schema } });
  const properties = { ...schema.properties, kind: { enum: ['a'] } };
  expect(sent().generationConfig).toMatchObject({
    responseMimeType: 'application/json',
    responseJsonSchema: { ...schema, title: 'facts', properties },
  });
});

test('Gemini 2.5 returns its output through a tool, because it rejects a schema beside tools', () => {
  expect(createGemini({ apiKey: 'key', model: 'gemini-2.5-pro' }).capabilities.output).toBe('tool');
});

test('Gemini 4 ignores a temperature, so that one is rejected', async () => {
  const { agent } = served([done], { model: 'balanced', temperature: 0.5 });
  await expect(agent.run({ messages: [hello], tools: [] })).rejects.toMatchObject({ code: 'unsupported' });
});
