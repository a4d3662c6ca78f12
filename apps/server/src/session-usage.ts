import type { Event, Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';

/** What a session used in all its runs. */
export interface SessionUsage {
  readonly runs: number;
  /** Answers of the model. */
  readonly invocations: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** What failed attempts used; not part of `usage`. */
  readonly wasted: Usage;
  /** US dollars; absent when a price is unknown. */
  readonly usd?: number;
}

/** Adds up the log: each answer and each summary counts once, however often its run was gone on with. */
export function sessionUsage(events: readonly Event[]): SessionUsage {
  let usage: Usage = noUsage;
  let wasted: Usage = noUsage;
  let usd: number | undefined = 0;
  const counts = { runs: 0, invocations: 0, toolCalls: 0 };
  for (const event of events) {
    if (event.type === 'user' && event.steer !== true) counts.runs += 1;
    if (event.type === 'tool_started') counts.toolCalls += 1;
    if (event.type === 'ask_failed') wasted = addUsage(wasted, event.error.wasted ?? noUsage);
    const spent = event.type === 'assistant' ? event : event.type === 'compacted' ? event.spent : undefined;
    if (spent === undefined) continue;
    counts.invocations += event.type === 'compacted' ? (event.spent?.answers ?? 1) : 1;
    usage = addUsage(usage, spent.usage);
    wasted = addUsage(wasted, spent.wasted);
    usd = usd === undefined || spent.usd === undefined ? undefined : usd + spent.usd;
  }
  return { ...counts, usage, wasted, ...(usd !== undefined && { usd }) };
}
