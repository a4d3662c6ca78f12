import type { FinishedEvent, RunEvent } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { noMetrics } from '../interfaces/metrics.ts';
import { Feed } from '../run/feed.ts';
import type { RunControl, RunResult } from '../run/run.ts';
import { Run, runResult } from '../run/run.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime } from '../values/runtime.ts';

/** The ids of a run, known before it starts. */
export interface RunIds {
  readonly id: string;
  readonly sessionId: string;
}

/** Creates the error for a prompt during a run. */
export function busyError(): AgentError {
  return new AgentError({ kind: 'invalid', code: 'busy', message: 'another prompt is already in progress' });
}

/** Creates the error for a prompt after the conversation was closed. */
export function closedError(): AgentError {
  return new AgentError({ kind: 'invalid', code: 'closed', message: 'The conversation has been closed.' });
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
    if (isStored(event) || event.type === 'finished' || event.type === 'started') this.#feed.publish(event);
    else this.#feed.live(event);
  }

  end(result: RunResult): void {
    this.#feed.end();
    this.#result.resolve(result);
  }

  /** Ends the run without starting it. No log contains its end. */
  refuse(error: AgentError, runtime: Runtime): void {
    const { id: runId, sessionId } = this.#ids;
    const status = error.kind === 'aborted' ? 'cancelled' : 'failed';
    const end: FinishedEvent = { type: 'finished', status, metrics: noMetrics, error: error.toJSON() };
    this.show({ type: 'started', v: 1, sessionId, runId });
    this.show({ v: 1, time: isoTime(runtime.now()), runId, ...end });
    this.end(runResult({ sessionId, runId, status, text: '', error, messages: [], metrics: noMetrics }));
  }
}
