import type { FinishedEvent, RunEnd, RunEvent } from '../events/event.ts';
import { foldUnstored, lastAnswer } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { copyState } from '../events/state.ts';
import type { RunIds } from '../harness/pending-run.ts';
import { PendingRun } from '../harness/pending-run.ts';
import type { Run, RunControl, RunResult } from '../loop/run.ts';
import { errorOf, runResult } from '../loop/run.ts';
import { defined } from '../values/defined.ts';
import type { AgentError } from '../values/errors.ts';
import { textOf } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';

/**
 * A run of the server as its client sees it. It owns every event from its first one to the first `finished`:
 * also when the server was restarted in between and went on with it under another id.
 */
export class RemoteRun {
  readonly run: Run;
  readonly ids: RunIds;
  readonly #held: PendingRun;
  readonly #runtime: Runtime;
  #hasBegun = false;
  #isOver = false;

  constructor(ids: RunIds, control: RunControl, runtime: Runtime) {
    this.ids = ids;
    this.#runtime = runtime;
    this.#held = new PendingRun(ids, control);
    this.run = this.#held.run;
  }

  /** Whether an event of it was seen. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether this event is one of this run. */
  owns(event: RunEvent): boolean {
    if (this.#isOver) return false;
    return this.#hasBegun || ('runId' in event && event.type !== 'started' && event.runId === this.ids.id);
  }

  /** Shows the beginning. */
  begin(tell: (event: RunEvent) => void): void {
    this.#hasBegun = true;
    const { id, sessionId } = this.ids;
    const started = { type: 'started', v: 1, sessionId, runId: id } as const;
    this.#held.show(started);
    tell(started);
  }

  /** Shows an event of it. */
  show(event: RunEvent): void {
    this.#held.show(event);
  }

  /** The run is over, as the log says, or the server where no store has its end. */
  end(event: RunEnd, state: State): void {
    this.#isOver = true;
    this.#held.end(resultOf(this.ids, event, state));
  }

  /** Nothing more will be heard of it. */
  giveUp(error: AgentError, state: State): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#hasBegun) return this.#held.refuse(error, this.#runtime);
    const status = error.kind === 'aborted' ? 'cancelled' : 'failed';
    const { metrics } = state;
    const body: FinishedEvent = { type: 'finished', status, error: error.toJSON(), metrics };
    this.#held.end(resultOf(this.ids, body, state));
  }
}

function resultOf(ids: RunIds, finished: FinishedEvent, state: State): RunResult {
  const { status, limit, metrics } = finished;
  const error = errorOf(status, finished.error);
  const answer = state.turns === 0 ? undefined : lastAnswer(state.messages);
  return runResult({
    sessionId: ids.sessionId,
    runId: ids.id,
    status,
    text: answer === undefined ? '' : textOf(answer),
    messages: closed(state),
    metrics,
    ...defined({ limit, error }),
  });
}

/** The messages as they would stand if the run had ended for good, for one that waits with open calls. */
function closed(state: State): State['messages'] {
  const copy = copyState(state);
  foldUnstored(copy, { runId: copy.runId, type: 'finished', status: 'failed', metrics: copy.metrics });
  return copy.messages;
}
