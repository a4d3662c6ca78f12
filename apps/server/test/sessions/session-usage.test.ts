import type { Event } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { SessionUsageCounter } from '../../src/sessions/session-usage.ts';

const usage = { inputTokens: 100, outputTokens: 20 };
const wasted = { inputTokens: 90, outputTokens: 7 };
const place = { v: 1, id: 'e', runId: 'r', time: '2026-01-01T00:00:00.000Z' } as const;

function cancelled(seq: number, more: object, usd?: number): Event {
  const error = { kind: 'aborted', message: 'Cancelled.', ...more } as const;
  return { ...place, seq, type: 'ask_failed', error, durationMs: 1, ...(usd !== undefined && { usd }) };
}

test('the cost of a session includes failed requests', () => {
  const count = new SessionUsageCounter();
  count.add([
    {
      ...place,
      seq: 1,
      type: 'assistant',
      content: [{ type: 'text', text: 'Hello.' }],
      stopReason: 'complete',
      provider: 'p',
      model: 'm',
      usage,
      wasted: { inputTokens: 0, outputTokens: 0 },
      attempts: 1,
      durationMs: 1,
      usd: 0.5,
    },
    cancelled(2, { wasted }, 0.25),
    cancelled(3, {}),
  ]);
  expect(count.sum).toMatchObject({ invocations: 1, usage, wasted, usd: 0.75 });
  count.add([cancelled(4, { wasted })]);
  expect(count.sum).not.toHaveProperty('usd');
});
