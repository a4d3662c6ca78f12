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

/** The ids of a run, known before it starts. */
export interface RunIds {
  readonly id: string;
  readonly sessionId: string;
}

/** Returns the result of a run that never started. No log contains its end. */
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

/** Returns a run that was refused before it started, for example because another one is active. */
export function refusedRun(ids: RunIds, error: AgentError, runtime: Runtime): Run {
  const held = new PendingRun(ids, nothingToControl);
  held.refuse(error, runtime);
  return held.run;
}

const nothingToControl: RunControl = { cancel: () => false, steer: () => false, decide: () => false };

/** A run that can be watched now and starts, or is refused, later. */
export class PendingRun {
  readonly run: Run;
  readonly #ids: RunIds;
  readonly #feed: Feed = new Feed();
  readonly #result = Promise.withResolvers<RunResult>();

  constructor(ids: RunIds, control: RunControl) {
    this.#ids = ids;
    this.run = new Run(ids, this.#result.promise, this.#feed, control);
  }

  /** Passes an event of the run to its readers. */
  show(event: RunEvent): void {
    if (event.type === 'started') this.#feed.start(event);
    else if (isStored(event) || event.type === 'finished') this.#feed.publish(event);
    else this.#feed.live(event);
  }

  /** Ends the run. */
  end(result: RunResult): void {
    this.#feed.end();
    this.#result.resolve(result);
  }

  /** Ends the run without starting it. */
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
