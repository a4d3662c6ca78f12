import type { AssistantPart, ErrorData, StopReason, Usage } from '@cobbler/agent';
import { noUsage, subtractUsage } from '@cobbler/agent';

/** An event of a program, in the same form for all programs. */
export type BackendEvent =
  /** The id with which the conversation can continue. */
  | { readonly type: 'session'; readonly id: string; readonly model?: string }
  | { readonly type: 'delta'; readonly of: 'text' | 'reasoning'; readonly text: string }
  /** A complete block of a response. `answer` identifies the response that the block belongs to. */
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
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly text: string;
      readonly isError: boolean;
      /** The tool, if it returned what other people wrote, otherwise null. Absent: the name of the tool decides. */
      readonly untrusted?: string | null;
    }
  /** Everything since the last complete response is withdrawn. */
  | {
      readonly type: 'withdrawn';
      readonly attempt: number;
      readonly error: ErrorData;
      readonly delayMs: number;
      /** Usage of the failed attempt, if known. */
      readonly wasted?: Usage;
      /** Cost of that attempt in US dollars. */
      readonly usd?: number;
    }
  /** Information for the user. */
  | { readonly type: 'notice'; readonly text: string }
  | End;

/** The program's final result. Without one, the task has not succeeded. */
export interface End {
  readonly type: 'end';
  readonly ok: boolean;
  /** The final text; absent if the result contains none. */
  readonly text?: string;
  readonly error?: ErrorData;
  readonly stop?: StopReason;
  readonly turns?: number;
  /** Usage of this run. */
  readonly usage?: Usage;
  /** Usage of the conversation since its start, for programs that report totals. */
  readonly totalUsage?: Usage;
  /** Cost of this run in US dollars. */
  readonly usd?: number;
  /** Cost since the start of the conversation, in US dollars. */
  readonly totalUsd?: number;
  /** Names of tools whose calls were denied. */
  readonly denials?: readonly string[];
  /** True if the conversation to continue no longer exists. */
  readonly stale?: boolean;
}

/** The last known usage of a conversation, from which later usage is computed. */
export interface Totals {
  readonly usage?: Usage;
  readonly usd?: number;
}

/**
 * Returns the latest of several totals that can precede these, because a failed attempt may not have updated the
 * conversation's total.
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

/** Returns the sum of input and output tokens. */
export function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/**
 * Returns the cost since the earlier totals. Lower totals belong to a new conversation and are used unchanged.
 * Undefined for a conversation with unknown earlier totals.
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

/**
 * Returns the usage since the earlier totals, like {@link usdSince}. For a conversation with unknown earlier totals,
 * the full usage counts, marked as estimated.
 */
export function usageSince(total: Usage, before: Totals | undefined, resumed: boolean): Usage {
  if (!resumed) return total;
  const earlier = before?.usage;
  if (earlier === undefined) return { ...total, estimated: true };
  if (total.inputTokens < earlier.inputTokens || total.outputTokens < earlier.outputTokens) return total;
  return subtractUsage(total, earlier);
}
