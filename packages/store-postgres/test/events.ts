import type { Event } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';

/** Returns events as in a log, with sequence numbers that start after `after`. */
export function eventsOf(sessionId: string, texts: readonly string[], after = 0): Event[] {
  return texts.map((text, offset) => {
    const seq = after + offset + 1;
    const body: EventBody = { type: 'user', content: [{ type: 'text', text }] };
    return {
      v: 1,
      seq,
      id: `${sessionId}-${seq}`,
      time: '2026-01-02T03:04:05.678Z',
      runId: 'run-1',
      ...body,
    };
  });
}
