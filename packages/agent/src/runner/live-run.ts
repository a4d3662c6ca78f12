import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { pause } from './attempts.ts';
import type { ClaimedRun, Inbox, RunEndState } from './inbox.ts';
import { fencedRun } from './inbox.ts';
import type { Workflow } from './runner.ts';
import type { WorkflowWait } from './workflow-call.ts';
import { callWorkflow } from './workflow-call.ts';

/** Maximum duration of one timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1;

export interface LiveRunOptions {
  readonly claimed: ClaimedRun;
  readonly inbox: Inbox;
  readonly runtime: Runtime;
}

/** A run that this process works on. After it is stopped or lost it starts no step and writes nothing. */
export class LiveRun {
  readonly claimed: ClaimedRun;
  readonly #options: LiveRunOptions;
  readonly #controller = new AbortController();
  /** Ends the current pause of a waiting run. */
  #wake: () => void = () => {};
  #failure: AgentError | undefined;

  constructor(options: LiveRunOptions) {
    this.claimed = options.claimed;
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Stops the run in this process; another process can continue it. Only the first reason counts. */
  stop(reason: AgentError): void {
    this.#controller.abort(reason);
  }

  /** Makes a waiting run check for its signal. */
  lookForSignals(): void {
    this.#wake();
  }

  /**
   * Calls the workflow until the run ends. The result is ignored if the run was stopped.
   * @throws AgentError if the inbox cannot be read or written.
   */
  async work(workflow: Workflow): Promise<RunEndState> {
    const { claimed, inbox, runtime } = this.#options;
    const { runId, input } = claimed;
    const { signal } = this.#controller;
    const signalled = (name: string) => this.#look(async () => await inbox.signalled(runId, name));
    const mayStart = () => this.#look(() => this.#checkOwner());
    for (;;) {
      const end = await callWorkflow({ workflow, runId, input, runtime, signal, signalled, mayStart });
      if (this.#failure !== undefined) throw this.#failure;
      if (end.state !== 'waiting') return end;
      await this.#untilOver(end.waits);
    }
  }

  /** Reads the inbox. Its failure stops the run for now; the workflow must not take it for an error of its own. */
  async #look<Found>(look: () => Promise<Found>): Promise<Found> {
    try {
      return await look();
    } catch (thrown) {
      this.#failure = AgentError.from(thrown);
      this.stop(this.#failure);
      throw thrown;
    }
  }

  /** @throws AgentError code `fenced` if another process has the run, or it has ended. */
  async #checkOwner(): Promise<void> {
    const { inbox, claimed } = this.#options;
    const runRecord = await inbox.standing(claimed.runId);
    if (runRecord?.state !== 'running' || runRecord.epoch !== claimed.epoch) throw fencedRun(claimed.runId);
  }

  /** Resolves when one of the waits is over: the inbox then has its signal, or the note that none came in time. */
  async #untilOver(waits: readonly WorkflowWait[]): Promise<void> {
    const { claimed, inbox, runtime } = this.#options;
    while (waits.length > 0) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      this.#controller.signal.throwIfAborted();
      // The wall clock continues while no process works on the run.
      const now = runtime.now();
      let left = maxTimer;
      for (const { name, until = Number.POSITIVE_INFINITY } of waits) {
        if ((await inbox.signalled(claimed.runId, name)) !== undefined) return;
        if (until <= now) return void (await inbox.giveUp(claimed, name));
        left = Math.min(left, until - now);
      }
      const ends = AbortSignal.any([woken.signal, this.#controller.signal]);
      // A timer may fire slightly early.
      await pause(runtime, Math.max(left, 1), ends).catch(() => {});
    }
  }
}
