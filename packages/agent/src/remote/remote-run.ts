import type { FinishedEvent, RunEvent } from '../events/event.ts';
import { lastAnswer } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { openRequests } from '../events/state.ts';
import type { RunIds } from '../harness/pending-run.ts';
import { PendingRun } from '../harness/pending-run.ts';
import { closedMessages } from '../run/result.ts';
import type { Run, RunControl, RunResult } from '../run/run.ts';
import { errorOf, runResult } from '../run/run.ts';
import { defined } from '../values/defined.ts';
import type { AgentError } from '../values/errors.ts';
import { textOf } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';

/** A run as its client sees it: it owns every event up to the first `finished`, even if a restart gave it another id. */
export class RemoteRun {
  readonly run: Run;
  readonly ids: RunIds;
  readonly #held: PendingRun;
  readonly #runtime: Runtime;
  /** The run on the server. */
  #id: string;
  #hasStarted = false;
  #isOver = false;

  constructor(ids: RunIds, control: RunControl, runtime: Runtime) {
    this.ids = ids;
    this.#id = ids.id;
    this.#runtime = runtime;
    this.#held = new PendingRun(ids, control);
    this.run = this.#held.run;
  }

  /** True if an event of the run was received. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Follows a run that was already active and took the decisions of this one. */
  follow(id: string): void {
    this.#id = id;
  }

  owns(event: RunEvent): boolean {
    if (this.#isOver) return false;
    return this.#hasStarted || ('runId' in event && event.type !== 'started' && event.runId === this.#id);
  }

  /** Delivers the `started` event. */
  begin(notify: (event: RunEvent) => void): void {
    this.#hasStarted = true;
    const { id, sessionId } = this.ids;
    const started = { type: 'started', v: 1, sessionId, runId: id } as const;
    this.#held.show(started);
    notify(started);
  }

  show(event: RunEvent): void {
    this.#held.show(event);
  }

  /** Ends the run with its stored or unstored end. */
  end(event: FinishedEvent, state: State): void {
    this.#isOver = true;
    this.#held.end(resultOf(this.ids, event, state));
  }

  /** Ends the run with an error, because no more events will arrive. */
  giveUp(error: AgentError, state: State): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#hasStarted) return this.#held.refuse(error, this.#runtime);
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
    approvals: openRequests(state),
    messages: closedMessages(state),
    metrics,
    ...defined({ limit, error }),
  });
}
