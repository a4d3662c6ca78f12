import type { Action, Finish, Policy } from './action.ts';
import type { StopReason } from './agent.ts';
import type { ErrorData } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { State } from './state.ts';
import { unanswered, undecided } from './state.ts';

/** The loop as one question to the state. Pure: equal states get equal answers. The order is the contract. */
export function decide(state: State, policy: Policy): Action {
  const { closing, stopReason } = state;
  if (state.finished !== undefined) return { type: 'finish', status: state.finished.status };
  if (state.stop !== undefined) return { type: 'finish', status: state.stop };
  if (state.failure !== undefined) return failed(state.failure);

  const open = stopReason === 'tool_use' && closing === undefined ? unanswered(state) : [];
  if (open.length > 0) {
    const left = policy.toolCalls - state.toolCalls;
    if (left <= 0) return limited('toolCalls', policy);
    if (undecided(state).length > 0 && !policy.attended) return { type: 'finish', status: 'waiting' };
    return { type: 'call', calls: open.slice(0, left) };
  }
  if (closing !== undefined && stopReason !== undefined) return reached(closing);
  if (stopReason !== undefined && stopReason !== 'pause') return ended(stopReason);
  if (closing === undefined && state.turns >= policy.turns) return limited('turns', policy);
  if (state.contextTokens > policy.compactAbove) return { type: 'compact' };
  return closing === undefined ? { type: 'ask' } : { type: 'ask', closing };
}

function ended(status: StopReason): Finish {
  if (status === 'complete' || status === 'max_tokens' || status === 'refusal')
    return { type: 'finish', status };
  const message = endings[status] ?? 'The model stopped for a reason that this version does not know.';
  return { type: 'finish', status: 'failed', error: { kind: 'agent', code: status, message } };
}

const endings: Partial<Record<StopReason, string>> = {
  context_full: 'The conversation no longer fits into the context window of the model.',
  tool_use: 'The model announced a tool call but made none.',
};

function limited(limit: LimitName, policy: Policy): Action {
  return policy.onLimit === 'finalize' ? { type: 'ask', closing: limit } : reached(limit);
}

function reached(limit: LimitName): Finish {
  const message = `The limit on ${limit} was reached.`;
  return { type: 'finish', status: 'limit', limit, error: { kind: 'limit', code: limit, message } };
}

function failed(error: ErrorData): Finish {
  if (error.kind !== 'limit') return { type: 'finish', status: 'failed', error };
  return { type: 'finish', status: 'limit', limit: error.code as LimitName, error };
}
