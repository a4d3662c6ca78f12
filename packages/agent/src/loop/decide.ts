import { exceedsTokens } from '../context/tokens.ts';
import { repeatNotice, repeatsItself } from '../events/repeat-policy.ts';
import type { State } from '../events/state.ts';
import { openLimit, unanswered, undecided } from '../events/state.ts';
import type { StopReason } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ErrorData } from '../values/errors.ts';
import type { Action, Finish, Policy } from './action.ts';
import { afterCutOff, endingError, finishAtLimit, limitOf } from './ending-error.ts';

/** Returns the next action for a state. Pure: equal states give equal actions. The order of the checks is the contract. */
export function decide(state: State, policy: Policy): Action {
  const { closing, stopReason, compacted } = state;
  if (state.finished !== undefined) return { type: 'finish', status: state.finished.status };
  if (state.stop !== undefined) return { type: 'finish', status: state.stop };
  if (state.question !== undefined && openLimit(state) !== undefined)
    return policy.attended ? { type: 'wait_for_answer' } : { type: 'finish', status: 'waiting' };
  if (isFull(state) && policy.compacts && !compacted) return { type: 'compact' };
  if (state.failure !== undefined) return finishAsFailed(state.failure);
  if (policy.compactsOnly) return compacted ? { type: 'finish', status: 'complete' } : { type: 'compact' };

  const open = stopReason === 'tool_use' && closing === undefined ? unanswered(state) : [];
  if (open.length > 0) {
    let left = policy.toolCalls - state.toolCalls;
    // A call that has started is already counted.
    for (const { started } of open) if (started) left += 1;
    if (left <= 0) return limited('toolCalls', policy);
    if (!policy.attended && undecided(state).length > 0) return { type: 'finish', status: 'waiting' };
    return { type: 'call_tools', calls: open.slice(0, left) };
  }
  if (closing !== undefined && stopReason !== undefined) return afterCutOff(closing, state, policy);
  if (stopReason !== undefined && stopReason !== 'pause') return finishAfter(stopReason);
  if (closing === undefined && state.turns >= policy.turns) return limited('turns', policy);
  if (closing === undefined && state.repeats >= policy.repeats && repeatsItself(state, policy))
    return limited('no_progress', policy);
  if (!compacted && exceedsTokens(state, policy.compactAbove, policy.prefixTokens))
    return { type: 'compact' };
  if (closing !== undefined) return { type: 'request', closing };
  const notice = state.repeats > 1 ? repeatNotice(state, policy) : undefined;
  return notice === undefined ? { type: 'request' } : { type: 'request', notice };
}

/** Returns whether the service reported that the context is full. A closing response is accepted even then. */
function isFull({ failure, stopReason, closing }: State): boolean {
  return failure?.code === 'context_full' || (stopReason === 'context_full' && closing === undefined);
}

function finishAfter(status: StopReason): Finish {
  if (status === 'complete' || status === 'max_tokens' || status === 'refusal')
    return { type: 'finish', status };
  return { type: 'finish', status: 'failed', error: endingError(status) };
}

function limited(limit: LimitName, policy: Policy): Action {
  return policy.onLimit === 'finalize' ? { type: 'request', closing: limit } : finishAtLimit(limit, policy);
}

function finishAsFailed(error: ErrorData): Finish {
  if (error.kind !== 'limit') return { type: 'finish', status: 'failed', error };
  const limit = limitOf(error);
  return { type: 'finish', status: 'limit', ...(limit !== undefined && { limit }), error };
}
