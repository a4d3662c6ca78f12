import { prefixTokens } from '../context/tokens.ts';
import type { NoticeEvent, RunStatus } from '../events/event.ts';
import type { RepeatPolicy } from '../events/repeat-policy.ts';
import type { OpenCall, State } from '../events/state.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ErrorData } from '../values/errors.ts';
import type { RunConfig } from './options.ts';

/** What of a run's options decides about its course. */
export interface Policy extends RepeatPolicy {
  readonly turns: number;
  readonly toolCalls: number;
  readonly onLimit: 'return' | 'finalize';
  /** Whether a user can answer an approval while the run waits. */
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

/** What `decide` has to know of a run's options. Limits shrink with what others draw from the same budget. */
export function policyOf(config: RunConfig, state: State): Policy {
  const { agent, context, system, tools, limits, budget, onLimit, attended } = config;
  const window = agent.capabilities.contextTokens ?? Number.POSITIVE_INFINITY;
  const compacts = context?.compact !== undefined;
  return {
    get turns() {
      return Math.min(limits.turns, state.turns + budget.left('turns'));
    },
    get toolCalls() {
      return Math.min(
        limits.toolCalls ?? Number.POSITIVE_INFINITY,
        state.toolCalls + budget.left('toolCalls'),
      );
    },
    onLimit,
    attended,
    compacts,
    compactAbove: compacts ? (context.maxTokens ?? window * 0.8) : Number.POSITIVE_INFINITY,
    prefixTokens: compacts ? prefixTokens(system, tools) : 0,
    repeats: limits.repeats || Number.POSITIVE_INFINITY,
    mayRepeat: tools.filter((tool) => tool.mayRepeat === true).map((tool) => tool.name),
  };
}
