import { systemRuntime, userMessage } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import { callBlock, replies, scriptResponse, wireServer } from '@cobbler/agent/testing';
import { mockResolver } from '@cobbler/conformance/msw';
import { setupServer } from 'msw/node';
import { expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { subjects } from './subjects.ts';

const answer = scriptResponse(['I look.', callBlock('call_1', 'look_up', { word: 'last' })]);

test.each(subjects)(
  "serves the contract's handlers at the address of the real service, $name",
  async ({ name, testing, handlers }) => {
    const mock = wireServer(testing, [replies(answer)]);
    const network = setupServer(...handlers('https://api.openai.com/v1', mockResolver(mock.handler)));
    network.listen({ onUnhandledFrame: 'error' });
    try {
      const transport = fetchTransport(systemRuntime.fetch);
      const api = name === 'openai chat' ? 'chat' : 'responses';
      const agent = createOpenAI({ api, apiKey: 'sk-test', env: {}, model: 'gpt-4.1', transport });
      const response = await agent.run({ messages: [userMessage('Go.')], tools: [] });
      expect(response.content).toBe('I look.');
      expect(response.toolCalls).toEqual([
        { id: 'call_1', toolName: 'look_up', arguments: { word: 'last' } },
      ]);
      expect(mock.exchanges.map(({ complaint }) => complaint)).toEqual([undefined]);
    } finally {
      network.close();
    }
  },
);
