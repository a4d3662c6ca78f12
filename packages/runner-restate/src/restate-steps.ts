import type { ErrorData, Json, Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { StepCall, StepSettings, Steps, StepValue } from '@cobbler/agent/runner';
import {
  attemptStep,
  checkDuration,
  ignoreRejection,
  pause,
  runCancelled,
  StepNames,
  stepMismatch,
  toSerializableError,
} from '@cobbler/agent/runner';
import { backoff } from '@cobbler/agent/values';
import type { WorkflowContext } from '@restatedev/restate-sdk';
import { RestatePromise } from '@restatedev/restate-sdk';
import { jsonSerde } from './json-serde.ts';
import type { ServiceNames, Signalled } from './protocol.ts';
import { promises } from './protocol.ts';

/** The stored result of a step. Errors are stored as data, because the engine would lose their fields. */
interface StoredStep {
  readonly name: string;
  readonly kind: 'value' | 'error';
  readonly text: string;
}

export interface RestateStepsOptions {
  readonly ctx: WorkflowContext;
  readonly runId: string;
  readonly names: ServiceNames;
  readonly runtime: Runtime;
  /** Resolves when the run has ended in any way. */
  readonly over: RestatePromise<unknown>;
  /** Returns whether the run has ended, without using the journal. */
  readonly isOver: () => Promise<boolean>;
}

/** An engine operation that the workflow waits for. */
interface Awaited {
  readonly tagged: RestatePromise<() => void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Interval at which the end of the run is checked while the workflow does not wait for the engine, in milliseconds.
 */
const askMs = 500;

/** Number of attempts of a step whose session another process has claimed, and the delay before the second one. */
const fencedTries = 5;
const fencedMs = 200;

/**
 * The steps of a run on top of a Restate workflow. The engine finds journal entries by position, so each is created
 * during a call of the workflow function. The SDK can await one thing at a time: the pump awaits all open operations and
 * the end of the run. An operation created while it sleeps starts when it wakes.
 */
export class RestateSteps implements Steps {
  readonly runId: string;
  readonly #options: RestateStepsOptions;
  readonly #names = new StepNames();
  readonly #controller = new AbortController();
  readonly #open = new Set<Awaited>();
  readonly #stopped = Promise.withResolvers<never>();
  #isPumping = false;
  #atWork = 0;
  #onIdle: () => void = () => {};
  #takeQuestionBack: () => void = () => {};

  constructor(options: RestateStepsOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.#stopped.promise.catch(() => {});
    const { attemptCompletedSignal } = options.ctx.request();
    // The engine has abandoned this attempt; another one, here or elsewhere, continues the run.
    attemptCompletedSignal.addEventListener('abort', () => this.stop(outlived(this.runId)), { once: true });
    this.#askLater();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the run is stopped. */
  get stopped(): Promise<never> {
    return this.#stopped.promise;
  }

  /** Aborts all active steps. Only the first reason counts. */
  stop(reason: AgentError): void {
    if (this.signal.aborted) return;
    this.#takeQuestionBack();
    this.#controller.abort(reason);
    this.#stopped.reject(reason);
    for (const { reject } of this.#open) reject(reason);
    this.#open.clear();
  }

  /** Resolves when no function is running. */
  async idle(): Promise<void> {
    while (this.#atWork > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings: StepSettings = {},
  ): Promise<StepValue<Value>> {
    return ignoreRejection(this.#run(name, perform, settings));
  }

  sleep(name: string, ms: number): Promise<void> {
    return ignoreRejection(this.#sleep(name, ms));
  }

  waitFor(name: string, { timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<Json | undefined> {
    return ignoreRejection(this.#waitFor(name, timeoutMs));
  }

  async #run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings: StepSettings,
  ): Promise<StepValue<Value>> {
    this.#take(name);
    let replayed = true;
    const work = () => {
      replayed = false;
      return this.#kept(name, perform, settings);
    };
    // This package counts the attempts after errors; retries by the engine would multiply them.
    const kept = await this.#await(this.#options.ctx.run(name, work, { maxRetryAttempts: 1 }));
    if (kept.name !== name) throw stepMismatch(name);
    if (kept.kind === 'error') throw new AgentError(JSON.parse(kept.text) as ErrorData);
    return { value: JSON.parse(kept.text) as Value, replayed };
  }

  async #sleep(name: string, ms: number): Promise<void> {
    checkDuration(ms, name);
    this.#take(name);
    await this.#await(this.#options.ctx.sleep(Math.ceil(ms)));
  }

  async #waitFor(name: string, timeoutMs: number | undefined): Promise<Json | undefined> {
    if (timeoutMs !== undefined) checkDuration(timeoutMs, name);
    this.#take(name);
    const { ctx } = this.#options;
    const comes = ctx.promise<Signalled>(promises.signal(name)).get();
    const came = await this.#await(
      timeoutMs === undefined
        ? comes
        : RestatePromise.race([comes, ctx.sleep(Math.ceil(timeoutMs)).map(() => undefined)]),
    );
    const { text } = came ?? (await this.#giveUp(name));
    return text === null ? undefined : (JSON.parse(text) as Json);
  }

  /** Stops waiting for a signal. The first of an arriving signal and the end of the wait counts, permanently. */
  #giveUp(name: string): Promise<Signalled> {
    const { ctx, names } = this.#options;
    return this.#await(
      ctx.genericCall<{ name: string }, Signalled>({
        service: names.runs,
        method: 'giveUp',
        key: this.runId,
        parameter: { name },
        inputSerde: jsonSerde(),
        outputSerde: jsonSerde(),
      }),
    );
  }

  #take(name: string): void {
    this.signal.throwIfAborted();
    this.#names.take(name);
  }

  async #kept(
    name: string,
    perform: (call: StepCall) => Json | Promise<Json>,
    settings: StepSettings,
  ): Promise<StoredStep> {
    this.#atWork += 1;
    try {
      return await this.#attempted(name, perform, settings);
    } finally {
      this.#atWork -= 1;
      if (this.#atWork === 0) this.#onIdle();
    }
  }

  async #attempted(
    name: string,
    perform: (call: StepCall) => Json | Promise<Json>,
    settings: StepSettings,
  ): Promise<StoredStep> {
    const { runtime } = this.#options;
    const { runId, signal } = this;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const text = await attemptStep({ runtime, runId, name, perform, settings, signal });
        return { name, kind: 'value', text };
      } catch (thrown) {
        // An aborted step is not recorded: the next attempt executes it again.
        if (signal.aborted) return await new Promise<never>(() => {});
        const error = toSerializableError(thrown);
        const mayGoOn = error.code === 'fenced' && attempt < fencedTries;
        if (!mayGoOn) return { name, kind: 'error', text: JSON.stringify(error) };
        // An attempt that the engine has abandoned wrote after this one started. It cannot do so again.
        await pause(runtime, backoff({ baseMs: fencedMs }, attempt - 1), signal).catch(() => {});
      }
    }
  }

  #await<Value>(promise: RestatePromise<Value>): Promise<Value> {
    const { promise: value, resolve, reject } = Promise.withResolvers<Value>();
    const tagged = promise.map((result, failure) => () => {
      this.#open.delete(awaited);
      if (failure === undefined) resolve(result as Value);
      else reject(engineError(failure));
    });
    const awaited: Awaited = { tagged, reject };
    this.#open.add(awaited);
    if (!this.#isPumping) void this.#pump();
    return value;
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    const over = this.#options.over.map(() => () => this.stop(runCancelled(this.runId)));
    // Operations that the routine starts together are open before the first one is awaited.
    await quiet();
    while (this.#open.size > 0) {
      const tagged = [...this.#open].map((awaited) => awaited.tagged);
      const settle = await RestatePromise.race([...tagged, over]);
      settle();
      await quiet();
    }
    this.#isPumping = false;
  }

  /** Schedules a check of whether the run has ended, for a workflow that waits for something other than a step. */
  #askLater(): void {
    if (this.signal.aborted) return;
    this.#takeQuestionBack = this.#options.runtime.timer(askMs, () => {
      const asked = this.#isPumping ? Promise.resolve(false) : this.#options.isOver().catch(() => false);
      void asked.then((isOver) => {
        if (isOver && !this.#isPumping) this.stop(runCancelled(this.runId));
        this.#askLater();
      });
    });
  }
}

/** Waits until the routine has processed the results. */
function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

function engineError(failure: Error): AgentError {
  const message = `Restate gave up on a step: ${failure.message}`;
  return new AgentError({ kind: 'agent', code: 'engine', message });
}

function outlived(runId: string): AgentError {
  const message = `This attempt at run ${runId} has ended; another attempt continues the run.`;
  return new AgentError({ kind: 'aborted', code: 'attempt', message });
}
