import type { RequestUsage } from '../interfaces/metrics.ts';
import { defined } from '../values/defined.ts';
import { argumentError } from '../values/errors.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Event, EventBody } from './event.ts';
import { ignore } from './event-groups.ts';

/** Returns the usage of the requests behind an event, whichever session paid for them; undefined if there are none. */
export function requestsOf(event: EventBody): RequestUsage | undefined {
  switch (event.type) {
    case 'assistant':
      return event;
    case 'compacted':
    case 'spent':
      return event.spent;
    case 'ask_failed': {
      const { wasted = noUsage, attempts = 0, tried } = event.error;
      const usd = isNoUsage(wasted) ? 0 : event.usd;
      const { durationMs } = event;
      return { answers: 0, usage: noUsage, wasted, attempts, durationMs, ...defined({ usd, tried }) };
    }
    default:
      return ignore<'input' | 'call' | 'note' | 'end'>(event);
  }
}

/**
 * Returns the usage that an event of a session cost this session. Events that a fork copied were paid for in the
 * original session, so the sum over all sessions counts every request once.
 */
export function spendingOf(event: Event): RequestUsage | undefined {
  try {
    return event.inherited === true ? undefined : requestsOf(event);
  } catch (thrown) {
    throw argumentError('spendingOf', thrown);
  }
}

/** Adds two amounts of money. If the price of a part is unknown, so is the sum; it is never too small. */
export function addUsd(sum: number | undefined, usd: number | undefined): number | undefined {
  try {
    return sum === undefined || usd === undefined ? undefined : sum + usd;
  } catch (thrown) {
    throw argumentError('addUsd', thrown);
  }
}
