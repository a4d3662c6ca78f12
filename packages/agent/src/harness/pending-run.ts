import type { FinishedEvent, RunEvent } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { noMetrics } from '../interfaces/metrics.ts';
import { Feed } from '../loop/feed.ts';
import type { RunControl, RunResult } from '../loop/run.ts';
import { Run, runResult } from '../loop/run.ts';
import { defined } from '../values/defined.ts';
import type { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime } from '../values/runtime.ts';

/** What a run is known by before anything of it has happened. */
export interface RunIds {
  readonly id: string;
  readonly sessionId: string;
}

/** The result of a run that never began. No log holds its end. */
function neverBegan(ids: RunIds, error: AgentError): RunResult {
  const status = error.kind === 'aborted' ? 'cancelled' : 'failed';
  return runResult({
    sessionId: ids.sessionId,
    runId: ids.id,
    status,
    text: '',
    error,
    messages: [],
    metrics: noMetrics,
  });
}

/** A run that did not begin and says why, such as that another one is under way. */
export function refusedRun(ids: RunIds, error: AgentError, runtime: Runtime): Run {
  const held = new PendingRun(ids, nothingToControl);
  held.refuse(error, runtime);
  return held.run;
}

const nothingToControl: RunControl = { cancel: () => false, steer: () => false, decide: () => false };

/** A run that may be watched from now on and begins, or is refused, later. */
export class PendingRun {
  readonly run: Run;
  readonly #ids: RunIds;
  readonly #feed: Feed = new Feed();
  readonly #result = Promise.withResolvers<RunResult>();

  constructor(ids: RunIds, control: RunControl) {
    this.#ids = ids;
    this.run = new Run(ids, this.#result.promise, this.#feed, control);
  }

  /** Shows an event of the run to those who watch. */
  show(event: RunEvent): void {
    if (event.type === 'started') this.#feed.start(event);
    else if (isStored(event) || event.type === 'finished') this.#feed.publish(event);
    else this.#feed.live(event);
  }

  /** The run is over. */
  end(result: RunResult): void {
    this.#feed.end();
    this.#result.resolve(result);
  }

  /** The run will not begin. */
  refuse(error: AgentError, runtime: Runtime): void {
    const result = neverBegan(this.#ids, error);
    this.show({ type: 'started', v: 1, sessionId: this.#ids.sessionId, runId: this.#ids.id });
    this.show({ v: 1, time: isoTime(runtime.now()), runId: this.#ids.id, ...finishedOf(result) });
    this.end(result);
  }
}

function finishedOf({ status, error, metrics }: RunResult): FinishedEvent {
  return { type: 'finished', status, metrics, ...defined({ error: error?.toJSON() }) };
}
