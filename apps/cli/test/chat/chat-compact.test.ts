import { summarize } from '@cobbler/agent/context';
import { scriptedAgent } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { chatStage } from './chat-stage.ts';

test('/compact summarizes older messages, keeps what the user names, and states the sizes', async () => {
  const usage = { inputTokens: 40_000, outputTokens: 100 };
  const agent = scriptedAgent([
    'One.',
    { text: 'Two.', usage },
    { error: { kind: 'agent', message: 'Overloaded.', retryable: false } },
    'The notes.',
    'Three.',
  ]);
  const stage = await chatStage({ agent, context: { compact: summarize() } });
  stage.type('/compact', '\r');
  await stage.until('There are no messages yet.');
  stage.type('first', '\r');
  await stage.until(/One\.\n\n✓ \d/);
  stage.type('/compact', '\r');
  await stage.until('Nothing was summarized: only the last exchange is left');
  stage.type('second', '\r');
  await stage.until(/Two\.\n\n✓ \d/);
  stage.type('/compact', '\r');
  await stage.until('Overloaded.');
  stage.type('/compact the port numbers', '\r');
  await stage.until(/2 older messages summarized to save space: 40k to 40k tokens\n\n✓ \d/);
  expect(agent.requests[3]?.system).toMatch(/Above all, keep: the port numbers$/);
  stage.type('third', '\r');
  await stage.until('Three.');
  expect(JSON.stringify(agent.requests[4]?.messages)).toMatch(/The notes\..*second.*Two\..*third/);
  expect(JSON.stringify(agent.requests[4]?.messages)).not.toContain('first');
});
