import { spendingOf } from '../events/spending.ts';
import type { Amounts } from '../interfaces/amounts.ts';
import type { RunConfig } from '../run/options.ts';
import { readEvents } from '../store/open-session.ts';

const pageLength = 100;

/**
 * Returns the usage of the request that was sent after an event, from the log. Undefined if the log does not show it: its
 * process crashed before the response, its price is unknown, or it was one of several requests of a compaction.
 */
export async function recordedUsage(
  { store, sessionId }: Pick<RunConfig, 'store' | 'sessionId'>,
  seq: number,
): Promise<Pick<Amounts, 'tokens' | 'usd'> | undefined> {
  for (let after = seq; ; ) {
    const events = await readEvents(store, sessionId, after, pageLength);
    for (const event of events) {
      const spent = spendingOf(event);
      if (spent === undefined) continue;
      const isCompaction =
        event.type === 'compacted' || (event.type === 'ask_failed' && event.compacting === true);
      if (isCompaction || spent.usd === undefined) return undefined;
      const { usage, wasted, usd } = spent;
      const tokens = usage.inputTokens + usage.outputTokens + wasted.inputTokens + wasted.outputTokens;
      return { tokens, usd };
    }
    if (events.length < pageLength) return undefined;
    after += events.length;
  }
}
