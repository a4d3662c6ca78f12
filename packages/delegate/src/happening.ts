import type { AssistantPart, ErrorData, StopReason, Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';

/** What a program told of itself, in words that are the same for all of them. */
export type BackendEvent =
  /** The conversation has an id by which it can be gone on with. */
  | { readonly type: 'session'; readonly id: string; readonly model?: string }
  | { readonly type: 'delta'; readonly of: 'text' | 'reasoning'; readonly text: string }
  /** A whole block of an answer. `answer` tells blocks of one answer from those of the next. */
  | { readonly type: 'part'; readonly part: AssistantPart; readonly answer?: string; readonly model?: string }
  /** The answer under way is whole. */
  | { readonly type: 'answered'; readonly usage?: Usage; readonly stop?: StopReason }
  /** A call waits until somebody has decided about it. */
  | {
      readonly type: 'asked';
      readonly callId: string;
      readonly toolName: string;
      readonly arguments: Record<string, unknown>;
    }
  | { readonly type: 'result'; readonly callId: string; readonly text: string; readonly isError: boolean }
  /** What was told since the last whole answer is void. */
  | {
      readonly type: 'withdrawn';
      readonly attempt: number;
      readonly error: ErrorData;
      readonly delayMs: number;
      /** What the try that failed used, where it is known. */
      readonly wasted?: Usage;
      /** US dollars of that try. */
      readonly usd?: number;
    }
  /** For whoever watches. */
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
  /** What this run used. */
  readonly usage?: Usage;
  /** What the conversation has used since its beginning, for programs that count so. */
  readonly totalUsage?: Usage;
  /** US dollars of this run. */
  readonly usd?: number;
  /** US dollars since the beginning of the conversation. */
  readonly totalUsd?: number;
  /** Names of tools that were refused. */
  readonly denials?: readonly string[];
  /** The conversation to be gone on with is not there any more. */
  readonly stale?: boolean;
}

/** What a conversation had used when it was last seen: what later counts are taken from. */
export interface Totals {
  readonly usage?: Usage;
  readonly usd?: number;
}

/**
 * Of counts taken one after another, the last from which these can have grown: a try that failed may have left no
 * count with its conversation.
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
 * What was used since. Counts that went back belong to a new beginning and are taken as they are. Undefined for
 * a conversation whose earlier counts nobody knows.
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

/** As {@link usdSince}. Of a conversation whose earlier counts nobody knows everything counts, as estimated. */
export function usageSince(total: Usage, before: Totals | undefined, resumed: boolean): Usage {
  if (!resumed) return total;
  const earlier = before?.usage;
  if (earlier === undefined) return { ...total, estimated: true };
  if (total.inputTokens < earlier.inputTokens || total.outputTokens < earlier.outputTokens) return total;
  return subtractUsage(total, earlier);
}

/** What is left of a count when part of it has been booked already; never less than nothing. */
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
