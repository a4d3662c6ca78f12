import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { RunEndState, Workflow } from '@cobbler/agent/runner';
import { callWorkflow } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';

export interface RunCallOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  /** Input as JSON. */
  readonly input: string;
  readonly runtime: Runtime;
  /** Aborts when the engine has abandoned this attempt; another one, here or elsewhere, continues the run. */
  readonly abandoned: AbortSignal;
}

/** The end of one call of the workflow, as the engine stores it: with the run, or with waits. */
export type CallProgress =
  | RunEndState
  | {
      readonly state: 'waiting';
      readonly waits: readonly { readonly name: string; readonly leftMs?: number }[];
    };

/** The calls of a workflow that this process makes for one run. */
export class RunCall {
  readonly #options: RunCallOptions;
  readonly #controller = new AbortController();
  readonly #stopped = Promise.withResolvers<never>();
  #isAtWork = false;
  #onIdle: () => void = () => {};

  constructor(options: RunCallOptions) {
    this.#options = options;
    this.#stopped.promise.catch(() => {});
    const { abandoned, runId } = options;
    abandoned.addEventListener('abort', () => this.stop(attemptEnded(runId)), { once: true });
  }

  /** Rejects when the calls are stopped. */
  get stopped(): Promise<never> {
    return this.#stopped.promise;
  }

  /** Aborts the active call. Only the first reason counts. */
  stop(reason: AgentError): void {
    this.#controller.abort(reason);
    this.#stopped.reject(reason);
  }

  /** Resolves when no call is active. */
  async idle(): Promise<void> {
    while (this.#isAtWork) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Calls the workflow once. Never resolves if the calls are stopped, because another attempt makes this one. */
  async run(signals: ReadonlyMap<string, string | null>): Promise<CallProgress> {
    this.#isAtWork = true;
    try {
      const end = await this.#callOnce(signals);
      return this.#controller.signal.aborted ? await new Promise<never>(() => {}) : end;
    } finally {
      this.#isAtWork = false;
      this.#onIdle();
    }
  }

  async #callOnce(signals: ReadonlyMap<string, string | null>): Promise<CallProgress> {
    const { abandoned: _, ...own } = this.#options;
    const { signal } = this.#controller;
    const signalled = (name: string) => signals.get(name);
    const end = await callWorkflow({ ...own, signal, signalled, endsAtCheckpoint: true });
    if (end.state !== 'waiting') return end;
    const now = own.runtime.now();
    const waits = end.waits.map(({ name, until }) => {
      const leftMs = until === undefined ? undefined : Math.max(0, Math.ceil(until - now));
      return { name, ...defined({ leftMs }) };
    });
    return { state: 'waiting', waits };
  }
}

function attemptEnded(runId: string): AgentError {
  const message = `This attempt at run ${runId} has ended; another attempt is continuing the run.`;
  return new AgentError({ kind: 'aborted', code: 'attempt', message });
}
