import { systemRuntime, userMessage } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import { failsWith, replies, scriptResponse, wireServer } from '@cobbler/agent/testing';
import { mockResolver } from '@cobbler/conformance/msw';
import { setupServer } from 'msw/node';
import { expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';
import { subjects } from './subjects.ts';

test("serves the contract's handlers at the address of the real service", async () => {
  const server = wireServer(claudeTesting, [
    failsWith({ kind: 'busy', message: 'Overloaded', retryAfterMs: 1 }),
    replies(scriptResponse([{ type: 'reasoning', text: 'Easy.', seal: 's1' }, 'Four.'])),
  ]);
  const handlers = subjects.flatMap((subject) =>
    subject.handlers('https://api.anthropic.com', mockResolver(server.handler)),
  );
  const network = setupServer(...handlers);
  network.listen({ onUnhandledFrame: 'error' });
  try {
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
  } finally {
    network.close();
  }
});
