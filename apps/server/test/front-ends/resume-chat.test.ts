import type { Agent, SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { expect, test } from 'vitest';
import { moment, rig } from '../support/rig.ts';

test('a page that reconnects while a response is stored gets it and its approval request once [P16]', async () => {
  const [said, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const agent: Agent = {
    ...scriptedAgent([]),
    async run(_request, { emit } = {}) {
      emit?.({ type: 'text_delta', index: 0, text: 'Hello' });
      said.resolve();
      await goOn.promise;
      const call = { type: 'tool_call', id: 'c', toolName: 'write', arguments: {} } as const;
      return {
        content: 'Hello',
        toolCalls: [call],
        usage: { inputTokens: 1, outputTokens: 1 },
        stopReason: 'tool_use',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }, call] },
        model: 'm',
        attempts: 1,
        wasted: { inputTokens: 0, outputTokens: 0 },
      };
    },
  };
  const kept = memoryStore();
  let isSlow = false;
  const isAsked = async () => (await kept.read('s')).some(({ type }) => type === 'approval_requested');
  const store: SessionStore = {
    ...kept,
    // The response and its approval request are stored while the store looks up the session.
    async info(id) {
      if (isSlow) goOn.resolve();
      while (isSlow && !(await isAsked())) await moment();
      return kept.info(id);
    },
  };
  const settings = () => ({ ...harnessFixture(), agent, attended: true });
  const one = await rig({ store, settings });
  await one.ask('POST', '/v1/sessions', { id: 's' });
  await one.ask('POST', '/v1/sessions/s/prompt', { content: 'Go.' });
  await said.promise;
  isSlow = true;
  const { status, text } = await one.ask('GET', '/v1/sessions/s/chat');
  expect(status).toBe(200);
  expect(text.match(/"delta":"Hello"/g)).toHaveLength(1);
  expect(text).toContain('tool-approval-request');
  expect(text).not.toContain('was not run');
});
