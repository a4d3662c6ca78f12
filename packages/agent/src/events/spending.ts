import type { RequestUsage } from '../interfaces/metrics.ts';
import { defined } from '../values/defined.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Event, EventBody } from './event.ts';
import { ignore } from './event-groups.ts';

/** What the requests behind one event used, wherever they were paid for; nothing for an event without any. */
export function requestsOf(event: EventBody): RequestUsage | undefined {
  switch (event.type) {
    case 'assistant':
      return event;
    case 'compacted':
      return event.spent;
    case 'ask_failed': {
      const { wasted = noUsage, attempts = 0 } = event.error;
      const usd = isNoUsage(wasted) ? 0 : event.usd;
      const { durationMs } = event;
      return { answers: 0, usage: noUsage, wasted, attempts, durationMs, ...defined({ usd }) };
    }
    default:
      return ignore<'input' | 'call' | 'note' | 'end'>(event);
  }
}

/**
 * What one event of a session cost this session. What a fork has copied was paid for in the session that it was
 * forked from, so that adding up all sessions counts every request once.
 */
export function spendingOf(event: Event): RequestUsage | undefined {
  return event.inherited === true ? undefined : requestsOf(event);
}

/** A sum of money of which a part may have no known price; then the sum is unknown, never smaller. */
export function addUsd(sum: number | undefined, usd: number | undefined): number | undefined {
  return sum === undefined || usd === undefined ? undefined : sum + usd;
}
