import type { Event, Usage } from '@cobbler/agent';
import type { AssistantEvent, ConversationItems } from '@cobbler/agent/events';
import { spendingOf } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** The usage of one response, or one summary. */
export interface TurnUsage extends Pick<AssistantEvent, 'usage' | 'wasted' | 'usd' | 'durationMs'> {
  readonly seq: number;
  /** `3`, or `compaction`. */
  readonly name: string;
  readonly model?: string;
}

/** The total usage. */
export interface SessionTotals extends Pick<AssistantEvent, 'usage' | 'wasted' | 'durationMs'> {
  /** US dollars of all usage with a known price. */
  readonly usd: number;
  /** True if a price is unknown, so that `usd` is not the whole cost. */
  readonly isPartial: boolean;
}

/** Returns the usage of each turn, of summaries and of what calls spent, in order, without what a fork copied. */
export function turnsIn({ items, paid }: Pick<ConversationItems, 'items' | 'paid'>): TurnUsage[] {
  const names = new Map(items.map((item) => [item.seq, item.kind === 'response' ? String(item.turn) : '']));
  return paid.flatMap((event) => {
    const spent = event.type === 'ask_failed' ? undefined : spendingOf(event);
    if (spent === undefined) return [];
    const { seq } = event;
    const { usage, wasted, durationMs, usd } = spent;
    const name = event.type === 'spent' ? event.who : names.get(seq) || 'compaction';
    const model = event.type === 'assistant' || event.type === 'spent' ? event.model : undefined;
    return [{ seq, name, usage, wasted, durationMs, ...defined({ usd, model }) }];
  });
}

/** Adds up everything that a session paid for, including failed requests, such as those of a cancelled run. */
export function totalsOf(paid: readonly Event[]): SessionTotals {
  const spent = paid.flatMap((event) => spendingOf(event) ?? []);
  const sum = (count: (one: (typeof spent)[number]) => number | undefined) =>
    spent.reduce((total, one) => total + (count(one) ?? 0), 0);
  return {
    usage: {
      inputTokens: sum(({ usage }) => usage.inputTokens),
      outputTokens: sum(({ usage }) => usage.outputTokens),
      cacheReadTokens: sum(({ usage }) => usage.cacheReadTokens),
    },
    wasted: {
      inputTokens: sum(({ wasted }) => wasted.inputTokens),
      outputTokens: sum(({ wasted }) => wasted.outputTokens),
    },
    usd: sum(({ usd }) => usd),
    isPartial: spent.some(({ usd }) => usd === undefined),
    durationMs: sum(({ durationMs }) => durationMs),
  };
}

/** Returns all tokens, input and output. */
export function countOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}
