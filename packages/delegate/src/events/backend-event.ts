import type { AssistantPart, ErrorData, StopReason, Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';

/** An event of a program, in a common form for all of them. */
export type BackendEvent =
  /** The conversation has an id with which it can continue. */
  | { readonly type: 'session'; readonly id: string; readonly model?: string }
  | { readonly type: 'delta'; readonly of: 'text' | 'reasoning'; readonly text: string }
  /** A whole block of an answer. `answer` tells blocks of one answer from those of the next. */
  | { readonly type: 'part'; readonly part: AssistantPart; readonly answer?: string; readonly model?: string }
  /** The current response is complete. */
  | { readonly type: 'answered'; readonly usage?: Usage; readonly stop?: StopReason }
  /** A call waits for a decision. */
  | {
      readonly type: 'asked';
      readonly callId: string;
      readonly toolName: string;
      readonly arguments: Record<string, unknown>;
    }
  | { readonly type: 'result'; readonly callId: string; readonly text: string; readonly isError: boolean }
  /** Everything since the last complete response is withdrawn. */
  | {
      readonly type: 'withdrawn';
      readonly attempt: number;
      readonly error: ErrorData;
      readonly delayMs: number;
      /** Usage of the failed attempt, if known. */
      readonly wasted?: Usage;
      /** US dollars of that try. */
      readonly usd?: number;
    }
  /** For watchers. */
  | { readonly type: 'notice'; readonly text: string }
  | End;

/** The program's last word. Without it nothing it did is a success. */
export interface End {
  readonly type: 'end';
  readonly ok: boolean;
  /** Its final text; absent when it names none. */
  readonly text?: string;
  readonly error?: ErrorData;
  readonly stop?: StopReason;
  readonly turns?: number;
  /** Usage of this run. */
  readonly usage?: Usage;
  /** Usage of the conversation since its start, for programs that count so. */
  readonly totalUsage?: Usage;
  /** US dollars of this run. */
  readonly usd?: number;
  /** US dollars since the beginning of the conversation. */
  readonly totalUsd?: number;
  /** Names of tools that were refused. */
  readonly denials?: readonly string[];
  /** The conversation to continue no longer exists. */
  readonly stale?: boolean;
}

/** The last known usage of a conversation: later counts are relative to it. */
export interface Totals {
  readonly usage?: Usage;
  readonly usd?: number;
}

/**
 * The latest of successive counts from which these can have grown: a failed attempt may not have updated the
 * conversation's count.
 */
export function earlierOf(
  totals: readonly Totals[],
  now: Pick<End, 'totalUsd' | 'totalUsage'>,
): Totals | undefined {
  const { totalUsd = Number.POSITIVE_INFINITY, totalUsage } = now;
  const tokens = totalUsage === undefined ? Number.POSITIVE_INFINITY : tokensOf(totalUsage);
  const fits = ({ usd = 0, usage = noUsage }: Totals) => usd <= totalUsd && tokensOf(usage) <= tokens;
  return totals.findLast(fits) ?? totals.at(-1);
}

/** All tokens of a count. */
export function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/**
 * Usage since then. Lower counts belong to a new conversation and are used unchanged. Undefined for a conversation
 * with unknown earlier counts.
 */
export function usdSince(
  total: number | undefined,
  before: Totals | undefined,
  resumed: boolean,
): number | undefined {
  if (total === undefined) return undefined;
  if (!resumed) return total;
  if (before?.usd === undefined) return undefined;
  return total >= before.usd ? total - before.usd : total;
}

/** As {@link usdSince}. For a conversation with unknown earlier counts everything counts, as estimated. */
export function usageSince(total: Usage, before: Totals | undefined, resumed: boolean): Usage {
  if (!resumed) return total;
  const earlier = before?.usage;
  if (earlier === undefined) return { ...total, estimated: true };
  if (total.inputTokens < earlier.inputTokens || total.outputTokens < earlier.outputTokens) return total;
  return subtractUsage(total, earlier);
}

/** The rest of a count of which a part is already booked; never below zero. */
export function subtractUsage(total: Usage, booked: Usage): Usage {
  const less = (all: number, part: number) => Math.max(0, all - part);
  const detail = (name: 'cacheReadTokens' | 'cacheWriteTokens' | 'reasoningTokens') => {
    const all = total[name];
    return all === undefined ? {} : { [name]: less(all, booked[name] ?? 0) };
  };
  return {
    inputTokens: less(total.inputTokens, booked.inputTokens),
    outputTokens: less(total.outputTokens, booked.outputTokens),
    ...detail('cacheReadTokens'),
    ...detail('cacheWriteTokens'),
    ...detail('reasoningTokens'),
  };
}
