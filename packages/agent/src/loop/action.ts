import type { NoticeEvent, RunStatus } from '../events/event.ts';
import type { RepeatPolicy } from '../events/repeat-policy.ts';
import type { OpenCall } from '../events/state.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ErrorData } from '../values/errors.ts';

/** The options of a run that determine its course. */
export interface Policy extends RepeatPolicy {
  readonly turns: number;
  readonly toolCalls: number;
  readonly onLimit: 'return' | 'finalize';
  readonly onReached: 'end' | 'ask';
  /** True if a user can decide about approvals while the run waits. */
  readonly attended: boolean;
  /** True if the conversation can be shortened. */
  readonly compacts: boolean;
  /** True if the run only shortens the conversation. Default false. */
  readonly compactsOnly?: boolean;
  /** Number of tokens above which the conversation is compacted. */
  readonly compactAbove: number;
  /** Number of tokens in instructions and tools, used until a request has been counted. */
  readonly prefixTokens: number;
}

/** The end of a run: its status, and the error if it did not complete. */
export interface Finish {
  readonly type: 'finish';
  readonly status: RunStatus;
  readonly limit?: LimitName;
  readonly error?: ErrorData;
}

/** The next action of a run. */
export type Action =
  /** `closing` is the limit after which one last response without tools is requested. The model sees `notice` first. */
  | { readonly type: 'request'; readonly closing?: LimitName; readonly notice?: Omit<NoticeEvent, 'type'> }
  | { readonly type: 'call_tools'; readonly calls: readonly OpenCall[] }
  | { readonly type: 'compact' }
  /** Waits for the answer to the question whether the run continues beyond a limit. */
  | { readonly type: 'wait_for_answer' }
  | Finish;
