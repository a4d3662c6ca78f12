import type { ErrorData, Json, Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { StepCall, StepSettings, Steps, StepValue } from '@cobbler/agent/runner';
import {
  attemptStep,
  checkDuration,
  ignoreRejection,
  pause,
  runCancelled,
  runEnded,
  StepNames,
  toSerializableError,
} from '@cobbler/agent/runner';
import { backoff } from '@cobbler/agent/values';
import { insistently } from './insistence.ts';
import { wakeEvent } from './instance-id.ts';
import type { D1RunTable } from './run-table.ts';
import type { WorkflowStep, WorkflowStepConfig } from './workflow.ts';

export interface WorkflowStepsOptions {
  readonly step: WorkflowStep;
  readonly table: D1RunTable;
  readonly runtime: Runtime;
  readonly runId: string;
  /** Interval at which the database is checked while a step runs, in milliseconds. */
  readonly lookMs: number;
  /** Time after which a waiting run checks the database, in milliseconds. It doubles with each check. */
  readonly pollMs: number;
}

/** The stored result of a step. Errors are stored as data, because the engine would lose their fields. */
type StoredResult = { kind: 'value' | 'error'; text: string } | { kind: 'value' | 'error'; at: 'table' };

/**
 * A step of the engine: the routine's step name, and which of several engine steps for it. An empty name stands for
 * the wait for the run's turn.
 */
type StepName = readonly [name: string, part?: string];

/**
 * Maximum length of a result that the engine stores; longer ones are in the database. The engine limits the total
 * size.
 */
const maxInEngine = 200_000;

const maxPollMs = 3_600_000;

/** Maximum duration of a wait that does not use the engine, in milliseconds. */
const shortMs = 1000;

/**
 * Retries by the engine, for its own failures. This class counts the attempts after errors, so that they do not
 * multiply.
 */
const broken = { limit: 5, delay: 1000, backoff: 'exponential' } as const;

/**
 * The steps of a run on top of a Cloudflare Workflow. The engine stores the results of steps. The signals and the
 * state of the run are in the database; a wake event only triggers a check. After the run is stopped, no step starts.
 */
export class WorkflowSteps implements Steps {
  readonly runId: string;
  readonly #options: WorkflowStepsOptions;
  readonly #names = new StepNames();
  readonly #controller = new AbortController();
  /** Running functions, including those whose results are no longer needed. */
  readonly #atWork = new Set<Promise<unknown>>();
  /** Callbacks that make all waiting operations check again. */
  readonly #waiting = new Set<() => void>();
  #epoch = 0;
  #stopLooking: () => void = () => {};

  constructor(options: WorkflowStepsOptions) {
    this.#options = options;
    this.runId = options.runId;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the run's turn and returns its input; undefined if the run ends first. */
  async begin(): Promise<string | undefined> {
    const { table, runtime } = this.#options;
    const claimed = await this.#wait('', undefined, async () => {
      const own = await insistently(runtime, () => table.claim(this.runId, runtime.now()));
      if (own !== undefined) return own;
      const standing = await insistently(runtime, () => table.standing(this.runId));
      return standing?.state === 'queued' || standing?.state === 'running' ? undefined : null;
    });
    if (claimed === null || claimed === undefined) return undefined;
    this.#epoch = claimed.epoch;
    this.#lookLater();
    return claimed.input;
  }

  /** The epoch of this execution of the run. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Ends the steps after the workflow has ended. Steps that it did not wait for are lost. */
  end(): void {
    this.#stop(runEnded(this.runId));
  }

  /** Resolves when no function is running, or after the time limit: remaining functions end with their request. */
  async settled(ms: number): Promise<void> {
    const late = new AbortController();
    const all = Promise.allSettled([...this.#atWork]).then(() => late.abort());
    await Promise.race([all, pause(this.#options.runtime, ms, late.signal).catch(() => {})]);
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

  waitFor(name: string, options: { readonly timeoutMs?: number } = {}): Promise<Json | undefined> {
    return ignoreRejection(this.#waitFor(name, options.timeoutMs));
  }

  async #run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings: StepSettings,
  ): Promise<StepValue<Value>> {
    this.#take(name);
    let replayed = true;
    const kept = await this.#inEngine([name], engineTimeMs(settings), () => {
      replayed = false;
      return this.#attempted(name, perform, settings);
    });
    const text = 'at' in kept ? await this.#kept(name) : kept.text;
    if (kept.kind === 'error') throw new AgentError(JSON.parse(text) as ErrorData);
    return { value: JSON.parse(text) as Value, replayed };
  }

  async #attempted(
    name: string,
    perform: (call: StepCall) => Json | Promise<Json>,
    settings: StepSettings,
  ): Promise<StoredResult> {
    const { runtime } = this.#options;
    const { runId, signal } = this;
    // After a cancel was detected, no step starts.
    await this.#check();
    signal.throwIfAborted();
    const counted = (call: StepCall) => this.#counted(perform, call);
    try {
      const text = await attemptStep({ runtime, runId, name, perform: counted, settings, signal });
      return await this.#keep('value', name, text);
    } catch (thrown) {
      signal.throwIfAborted();
      return await this.#keep('error', name, JSON.stringify(toSerializableError(thrown)));
    }
  }

  #counted(perform: (call: StepCall) => Json | Promise<Json>, call: StepCall): Promise<Json> {
    const work = (async () => await perform(call))();
    this.#atWork.add(work);
    const done = () => this.#atWork.delete(work);
    work.then(done, done);
    return work;
  }

  async #keep(kind: StoredResult['kind'], name: string, text: string): Promise<StoredResult> {
    if (text.length <= maxInEngine) return { kind, text };
    const { table, runtime } = this.#options;
    await insistently(runtime, () => table.keep(this.runId, name, text));
    return { kind, at: 'table' };
  }

  #kept(name: string): Promise<string> {
    const { table, runtime } = this.#options;
    return insistently(runtime, () => table.kept(this.runId, name));
  }

  async #sleep(name: string, ms: number): Promise<void> {
    checkDuration(ms, name);
    this.#take(name);
    const until = await this.#deadline(name, ms);
    await this.#wait(name, until, async () => undefined);
  }

  async #waitFor(name: string, timeoutMs: number | undefined): Promise<Json | undefined> {
    if (timeoutMs !== undefined) checkDuration(timeoutMs, name);
    this.#take(name);
    const { table, runtime } = this.#options;
    const look = () => insistently(runtime, () => table.signalled(this.runId, name));
    const until = timeoutMs === undefined ? undefined : await this.#deadline(name, timeoutMs);
    const came = (await this.#wait(name, until, look)) ?? (await this.#giveUp(name));
    return came === null ? undefined : JSON.parse(came);
  }

  /** Stops waiting for a signal. The first of an arriving signal and the end of the wait counts, permanently. */
  async #giveUp(name: string): Promise<string | null> {
    const { table, runtime } = this.#options;
    await insistently(runtime, () => table.signal(this.runId, name, null));
    return (await insistently(runtime, () => table.signalled(this.runId, name))) ?? null;
  }

  /** Returns the end of a sleep or a wait, which is the same in every execution of the run. */
  async #deadline(name: string, ms: number): Promise<number> {
    const { runtime } = this.#options;
    return await this.#inEngine([name, 'until'], 60_000, async () => runtime.now() + ms);
  }

  #take(name: string): void {
    this.signal.throwIfAborted();
    this.#names.take(name);
  }

  async #inEngine<Value>(place: StepName, timeout: number, perform: () => Promise<Value>): Promise<Value> {
    const { step, runtime } = this.#options;
    const engineName = await engineNameOf(runtime, place);
    this.signal.throwIfAborted();
    const config: WorkflowStepConfig = { retries: broken, timeout };
    const done = step.do(engineName, config, perform).catch((thrown: unknown) => {
      throw engineError(place[0], thrown);
    });
    const value = await Promise.race([done, aborted(this.signal)]);
    this.signal.throwIfAborted();
    return value;
  }

  /** Polls until there is a result or a time is reached. Returns undefined in the second case. */
  async #wait<Found>(
    name: string,
    until: number | undefined,
    look: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const { runtime, pollMs } = this.#options;
    for (let turn = 1; ; turn += 1) {
      this.signal.throwIfAborted();
      const found = await look();
      if (found !== undefined) return found;
      const left = until === undefined ? Number.POSITIVE_INFINITY : until - runtime.now();
      if (left <= 0) return undefined;
      await this.#idle(
        [name, String(turn)],
        Math.min(left, backoff({ baseMs: pollMs, maxMs: maxPollMs }, turn - 1)),
      );
      if (this.#epoch > 0) await this.#check();
    }
  }

  /** Waits for a wake event, at most for a duration. */
  async #idle(place: StepName, ms: number): Promise<void> {
    const { runtime, lookMs, step } = this.#options;
    if (ms <= shortMs) return await pause(runtime, Math.min(ms, lookMs), this.signal);
    const woken = Promise.withResolvers<void>();
    this.#waiting.add(woken.resolve);
    const timeout = Math.ceil(ms);
    const event = step.waitForEvent(await engineNameOf(runtime, place), { type: wakeEvent, timeout });
    // The engine delivers an event to any one of the waiting operations, not to the one it is for.
    const tellAll = () => {
      for (const resolve of this.#waiting) resolve();
    };
    event.then(tellAll, woken.resolve);
    try {
      await Promise.race([woken.promise, aborted(this.signal)]);
    } finally {
      this.#waiting.delete(woken.resolve);
    }
  }

  /** Schedules checks of whether the run may continue, except while it only waits. */
  #lookLater(): void {
    if (this.signal.aborted) return;
    const { runtime, lookMs } = this.#options;
    this.#stopLooking = runtime.timer(lookMs, () => {
      const isIdle = this.#waiting.size > 0 && this.#atWork.size === 0;
      const checked = isIdle ? Promise.resolve() : this.#check().catch(() => {});
      void checked.then(() => this.#lookLater());
    });
  }

  async #check(): Promise<void> {
    const { table, runtime } = this.#options;
    const standing = await insistently(runtime, () => table.standing(this.runId));
    if (standing?.state === 'running' && standing.epoch === this.#epoch) return;
    this.#stop(standing?.state === 'cancelled' ? runCancelled(this.runId) : fenced(this.runId));
  }

  #stop(reason: AgentError): void {
    this.#stopLooking();
    this.#controller.abort(reason);
  }
}

/** Returns the time limit for all attempts and the delays between them. */
function engineTimeMs({ timeoutMs = 600_000, retry }: StepSettings): number {
  const { retries, firstMs, maxMs = 60_000 } = retry ?? { retries: 0, firstMs: 0 };
  let pauses = 0;
  for (let again = 0; again < retries; again += 1) pauses += backoff({ baseMs: firstMs, maxMs }, again);
  return (retries + 1) * timeoutMs + pauses + 60_000;
}

/**
 * Returns the name of a step in the engine, which allows at most 256 characters and no control characters. `~` is
 * reserved here.
 */
async function engineNameOf(runtime: Runtime, [name, part]: StepName): Promise<string> {
  const own = /^[\x20-\x7d]{0,200}$/.test(name) ? name : `~${await runtime.digest(name)}`;
  return part === undefined ? own : `${own}~${part}`;
}

/** Converts a failure of the engine itself. */
function engineError(name: string, thrown: unknown): AgentError {
  const { message } = AgentError.from(thrown);
  return new AgentError({
    kind: 'agent',
    code: 'engine',
    message: `The engine gave up on step ${JSON.stringify(name)}: ${message}`,
  });
}

function fenced(runId: string): AgentError {
  const message = `Run ${runId} no longer runs here: it was restarted, or has ended.`;
  return new AgentError({ kind: 'aborted', code: 'fenced', message });
}

/** Rejects with the reason when a signal fires. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
