import { readFileSync } from 'node:fs';
import { userMessage } from '@cobbler/agent';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { chatTurn } from '../src/chat/turn.ts';
import { createOpenAI } from '../src/index.ts';
import { chatTesting } from '../src/testing/index.ts';
import { withService } from './service.ts';

/** A response of Gemini's compatible endpoint, in the form captured in github.com/noho/dayu-agent/issues/45. */
const calls = readFileSync(new URL('fixtures/gemini-calls.sse', import.meta.url), 'utf8');

const signature = { google: { thought_signature: 'EjQKMgEMOdbHJChLX75QUCJjyYlm+/w==' } };

const tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object' },
  execute: () => '',
};

test('sends the signature of a call back to Gemini, which rejects the call without it [S0.16, P27]', async () => {
  const headers = { 'content-type': 'text/event-stream' };
  const first = { type: 'raw', status: 200, headers, body: [calls] } as const;
  await withService(chatTesting, [first, replies(scriptResponse(['A foot.']))], async (service) => {
    const agent = createOpenAI({ baseURL: service.url, env: {}, model: 'gemini-3.1-flash-lite-preview' });
    const question = userMessage('What is a last?');
    const { message, toolCalls } = await agent.run({ messages: [question], tools: [tool] });
    expect(toolCalls.map(({ arguments: given }) => given)).toEqual([{ word: 'last' }, { word: 'awl' }]);
    const results = toolCalls.map(({ id }) => ({
      role: 'tool_result' as const,
      toolCallId: id,
      content: [{ type: 'text' as const, text: 'A foot.' }],
    }));
    await agent.run({ messages: [question, message, ...results], tools: [tool] });
    const { messages } = JSON.parse(service.exchanges[1]?.text ?? '{}') as {
      messages: { tool_calls?: object[] }[];
    };
    const sent = messages.flatMap(({ tool_calls: some = [] }) => some);
    expect(sent).toMatchObject([{ extra_content: signature }, { function: { arguments: '{"word":"awl"}' } }]);
    expect(sent[1]).not.toHaveProperty('extra_content');
  });
});

test('sends no signature to OpenAI, which rejects unknown fields', () => {
  const seal = { provider: 'openai', data: { extra_content: signature } };
  const call = { type: 'tool_call', id: 'a', toolName: 'look_up', arguments: {}, seal } as const;
  const text = JSON.stringify(chatTurn({ side: 'assistant', parts: [call] }));
  expect(text).not.toContain('extra_content');
});
