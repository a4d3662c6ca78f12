import { systemRuntime, userMessage } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import { failsWith, replies, scriptResponse, wireServer } from '@cobbler/agent/testing';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

const network = setupServer();
beforeAll(() => network.listen({ onUnhandledFrame: 'error' }));
afterEach(() => network.resetHandlers());
afterAll(() => network.close());

test('the handlers of the contract work in msw as well, at the service’s real address', async () => {
  const server = wireServer(claudeTesting, [
    failsWith({ kind: 'busy', message: 'Overloaded', retryAfterMs: 1 }),
    replies(scriptResponse([{ type: 'reasoning', text: 'Easy.', seal: 's1' }, 'Four.'])),
  ]);
  network.use(http.post('https://api.anthropic.com/v1/messages', ({ request }) => server.handler(request)));
  const agent = createClaude({
    apiKey: 'sk-ant-test-0123456789',
    env: {},
    transport: fetchTransport(systemRuntime.fetch),
  });
  const response = await agent.run({
    messages: [userMessage('Two and two?')],
    tools: [],
    system: 'Be brief.',
  });
  expect(response).toMatchObject({
    content: 'Four.',
    stopReason: 'complete',
    attempts: 2,
    requestId: 'req_01scripted',
  });
  expect(server.exchanges.map(({ complaint }) => complaint)).toEqual([undefined, undefined]);
  expect(server.exchanges[1]?.request?.system).toBe('Be brief.');
});
