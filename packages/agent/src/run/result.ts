import type { FinishedEvent } from '../events/event.ts';
import { foldUnstored, lastAnswer } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { copyState, openRequests } from '../events/state.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import { defined } from '../values/defined.ts';
import type { AssistantMessage, Message } from '../values/message.ts';
import { callsOf, textOf } from '../values/message.ts';
import type { RunResult } from './run.ts';
import { errorOf, runResult } from './run.ts';

/** The parts of a result that do not follow from the events. */
export interface OutcomeDetails<Output> {
  readonly sessionId: string;
  readonly runId: string;
  readonly response?: ModelResponse | undefined;
  /** Used only if the run is complete. */
  readonly output?: Output | undefined;
  /** The name of the tool that the model calls to respond. */
  readonly answerTool?: string | undefined;
}

/** Returns the result of the session's current run, whether or not this process took part in it. */
export function outcomeOf<Output>(state: State, details: OutcomeDetails<Output>): RunResult<Output> {
  const { sessionId, runId, response, output } = details;
  const { status, limit, error, metrics } = endOf(state);
  return runResult({
    sessionId,
    runId,
    status,
    text: lastText(state, details),
    ...defined({ limit, response, output, error: errorOf(status, error) }),
    approvals: openRequests(state),
    messages: closedMessages(state),
    metrics,
  });
}

/** Returns the text of the run's last complete response, or the arguments of its call to `answerTool`. */
export function lastText(
  state: State,
  { response, answerTool }: Pick<OutcomeDetails<unknown>, 'response' | 'answerTool'>,
): string {
  if (state.turns === 0) return '';
  const answer = response?.message ?? lastAnswer(state.messages);
  return answer === undefined ? '' : answerText(answer, answerTool);
}

function answerText(answer: AssistantMessage, answerTool: string | undefined): string {
  const given = callsOf(answer).find((part) => part.toolName === answerTool);
  return given === undefined ? textOf(answer) : JSON.stringify(given.arguments);
}

function endOf(state: State): FinishedEvent {
  return state.finished ?? { type: 'finished', status: 'failed', metrics: state.metrics };
}

/** Returns the messages as they would be if the run ended now, for a run that waits with open calls. */
export function closedMessages(state: State): readonly Message[] {
  const copy = copyState(state);
  foldUnstored(copy, { runId: copy.runId, type: 'finished', status: 'failed', metrics: copy.metrics });
  return copy.messages;
}
