import type { FinishedEvent } from '../events/event.ts';
import { repeatedText } from '../events/repeat-policy.ts';
import type { State } from '../events/state.ts';
import type { StopReason } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import { isLimitName } from '../interfaces/limits.ts';
import { errorOf } from '../run/run.ts';
import { defined } from '../values/defined.ts';
import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import type { Action, Finish, Policy } from './action.ts';

/** Returns the error of a run whose model did not end its response normally. */
export function endingError(reason: StopReason): ErrorData {
  return errors[reason] ?? unknown;
}

/** Returns the limit that an error is about. A response that is too large exceeds a limit that no option sets. */
export function limitOf({ code }: ErrorData): LimitName | undefined {
  return isLimitName(code) ? code : undefined;
}

/** Returns the end of a run that reached a limit. */
export function finishAtLimit(limit: LimitName, { repeats }: Pick<Policy, 'repeats'>): Finish {
  const message = limit === 'no_progress' ? repeatedText(repeats) : `The limit on ${limit} was reached.`;
  return { type: 'finish', status: 'limit', limit, error: { kind: 'limit', code: limit, message } };
}

/** Returns the action after a response cut off by a limit: the end, or a request, whose refusal raises the question. */
export function afterCutOff(limit: LimitName, { turns }: State, policy: Policy): Action {
  const isAsked = policy.onReached === 'ask' && (limit === 'usd' || limit === 'tokens');
  return isAsked && turns < policy.turns
    ? { type: 'request', notice: cutOffNotice }
    : finishAtLimit(limit, policy);
}

const cutOffNotice = {
  code: 'limit',
  text: 'Your last answer was cut off by a cost limit. Continue from where it ended.',
} as const;

/** Creates the error of a run whose action recorded nothing, so that it would be repeated forever. */
export function stuck(action: string): AgentError {
  const message = `The run made no progress: "${action}" recorded nothing.`;
  return new AgentError({ kind: 'agent', code: 'stuck', message });
}

/** Returns the end of a run that an error ended. */
export function finishAsFailed(thrown: unknown): Finish {
  return { type: 'finish', status: 'failed', error: AgentError.from(thrown).toJSON() };
}

/** Returns the last event of a run. An earlier request to stop overrides the given end. */
export function finishedEvent(
  wanted: Finish,
  { stop, metrics }: Pick<State, 'stop' | 'metrics'>,
  durationMs: number,
): FinishedEvent {
  const { status, limit, error }: Finish = stop === undefined ? wanted : { type: 'finish', status: stop };
  return {
    type: 'finished',
    status,
    ...defined({ limit, error: errorOf(status, error)?.toJSON() }),
    metrics: { ...metrics, durationMs },
  };
}

const errors: Partial<Record<StopReason, ErrorData>> = {
  context_full: {
    kind: 'agent',
    code: 'context_full',
    message: "The conversation no longer fits into the model's context window.",
  },
  tool_use: { kind: 'agent', code: 'no_call', message: 'The model announced a tool call but made none.' },
};

const unknown: ErrorData = {
  kind: 'agent',
  code: 'unknown_stop',
  message: 'The model stopped for a reason that this version of Cobbler does not recognize.',
};
