import type { NoticeEvent, RunStatus } from '../events/event.ts';
import type { RepeatPolicy } from '../events/repeat-policy.ts';
import type { OpenCall } from '../events/state.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ErrorData } from '../values/errors.ts';

/** What of a run's options decides about its course. */
export interface Policy extends RepeatPolicy {
  readonly turns: number;
  readonly toolCalls: number;
  readonly onLimit: 'return' | 'finalize';
  /** Whether somebody can answer an approval while the run waits. */
  readonly attended: boolean;
  /** Whether there is a way to make the conversation smaller. */
  readonly compacts: boolean;
  /** Compact when the conversation weighs more than this many tokens. */
  readonly compactAbove: number;
  /** What instructions and tools weigh, in tokens, as long as no request has been counted. */
  readonly prefixTokens: number;
}

/** The end of a run: how, and why if it did not complete. */
export interface Finish {
  readonly type: 'finish';
  readonly status: RunStatus;
  readonly limit?: LimitName;
  readonly error?: ErrorData;
}

/** What happens next. */
export type Action =
  /**
   * With `closing`, the limit that was reached: one last answer without tools. With `notice`, what the model has
   * to read first.
   */
  | { readonly type: 'request'; readonly closing?: LimitName; readonly notice?: Omit<NoticeEvent, 'type'> }
  | { readonly type: 'call_tools'; readonly calls: readonly OpenCall[] }
  | { readonly type: 'compact' }
  | Finish;
