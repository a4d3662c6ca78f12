import { systemRuntime, userMessage } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import { callBlock, replies, scriptResponse, wireServer } from '@cobbler/agent/testing';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';

const answer = scriptResponse(['I look.', callBlock('call_1', 'look_up', { word: 'last' })]);

test.each([
  { api: 'responses', testing: responsesTesting, path: '/v1/responses' },
  { api: 'chat', testing: chatTesting, path: '/v1/chat/completions' },
] as const)(
  'the handlers of the $api mock serve as those of msw, at the real address',
  async ({ api, testing, path }) => {
    const mock = wireServer(testing, [replies(answer)]);
    const network = setupServer(
      http.post(`https://api.openai.com${path}`, ({ request }) => mock.handler(request)),
    );
    network.listen({ onUnhandledFrame: 'error' });
    try {
      const transport = fetchTransport(systemRuntime.fetch);
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
