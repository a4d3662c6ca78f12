import type { Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import type { ConversationItem, StoredEvent } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** The usage of one response, or one summary. */
export interface TurnUsage {
  readonly seq: number;
  /** `3`, or `compaction`. */
  readonly name: string;
  readonly model?: string;
  readonly usage: Usage;
  readonly wasted: Usage;
  /** US dollars; absent if the price is unknown. */
  readonly usd?: number;
  readonly durationMs: number;
}

/** The total usage. */
export interface SessionTotals {
  readonly usage: Usage;
  readonly wasted: Usage;
  /** US dollars of all usage with a known price. */
  readonly usd: number;
  /** True if a price is unknown, so that `usd` is not the whole cost. */
  readonly isPartial: boolean;
  readonly durationMs: number;
}

/** Returns the usage of each turn of a conversation, in order, without turns copied by a fork. */
export function turnsIn(items: readonly ConversationItem[]): TurnUsage[] {
  return items.flatMap((item) => {
    const { seq } = item;
    if (item.kind === 'response' && item.event !== undefined && item.event.inherited !== true) {
      const { usage, wasted, usd, durationMs, model } = item.event;
      return [{ seq, name: String(item.turn), model, usage, wasted, durationMs, ...defined({ usd }) }];
    }
    if (item.kind !== 'note' || item.what.type !== 'compacted') return [];
    const { spent, inherited } = item.what.event;
    if (spent === undefined || inherited === true) return [];
    const { usage, wasted, durationMs, usd } = spent;
    return [{ seq, name: 'compaction', usage, wasted, durationMs, ...defined({ usd }) }];
  });
}

/** The usage of a request without a response. */
type FailedRequestUsage = Pick<StoredEvent<'ask_failed'>, 'error' | 'usd' | 'inherited'>;

/** Adds up the turns and the failed requests, such as those of a cancelled run. */
export function totalsOf(
  turns: readonly TurnUsage[],
  failures: readonly FailedRequestUsage[],
): SessionTotals {
  let [usage, wasted]: [Usage, Usage] = [noUsage, noUsage];
  let [usd, durationMs] = [0, 0];
  for (const turn of turns) {
    usage = addUsage(usage, turn.usage);
    wasted = addUsage(wasted, turn.wasted);
    usd += turn.usd ?? 0;
    durationMs += turn.durationMs;
  }
  let isPartial = turns.some((turn) => turn.usd === undefined);
  for (const { error, usd: lost, inherited } of failures) {
    if (inherited === true || error.wasted === undefined || countOf(error.wasted) === 0) continue;
    wasted = addUsage(wasted, error.wasted);
    usd += lost ?? 0;
    isPartial ||= lost === undefined;
  }
  return { usage, wasted, usd, durationMs, isPartial };
}

/** Returns all tokens, input and output. */
export function countOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}
