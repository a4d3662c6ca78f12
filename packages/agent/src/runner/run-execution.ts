import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { ClaimedRun, Journal, JournalEntry, RunEndState } from './journal.ts';
import type { Routine, StepCall, StepSettings, Steps, StepValue } from './runner.ts';
import {
  attemptStep,
  checkDuration,
  ignoreRejection,
  pause,
  runEnded,
  StepNames,
  stepMismatch,
  toSerializableError,
} from './step.ts';

/** Maximum duration of one timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1;

export interface LiveRunOptions {
  readonly claimed: ClaimedRun;
  readonly journal: Journal;
  readonly runtime: Runtime;
  /** Called when the journal rejects a write of the run. */
  readonly onRefused: (error: AgentError) => void;
}

/**
 * A run that this process works on. Invariants: after it is stopped or its workflow has ended it writes nothing; every
 * step ends with it, whatever the step's function does.
 */
export class LiveRun implements Steps {
  readonly claimed: ClaimedRun;
  readonly #options: LiveRunOptions;
  readonly #names = new StepNames();
  readonly #controller = new AbortController();
  /** Callbacks of waits for a signal, by its name. */
  readonly #waiting = new Map<string, () => void>();

  constructor(options: LiveRunOptions) {
    this.claimed = options.claimed;
    this.#options = options;
  }

  get runId(): string {
    return this.claimed.runId;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  /** Stops the run in this process; another process can continue it. Only the first reason counts. */
  stop(reason: AgentError): void {
    this.#controller.abort(reason);
  }

  /** Runs the workflow to its end. The result is ignored if the run was stopped. */
  async work(routine: Routine): Promise<RunEndState> {
    try {
      const output = await routine(JSON.parse(this.claimed.input), this);
      return { state: 'done', text: plainJson(output, `The output of run ${this.runId}`) };
    } catch (thrown) {
      return { state: 'failed', text: JSON.stringify(toSerializableError(thrown)) };
    }
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

  /** Checks for the signals that the run waits for. */
  lookForSignals(): void {
    for (const look of this.#waiting.values()) look();
  }

  async #run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings: StepSettings,
  ): Promise<StepValue<Value>> {
    const kept = this.#begin(name);
    if (kept !== undefined) return { value: stepValue<Value>(kept, name), replayed: true };
    const entry = await this.#attempted(name, perform, settings);
    await this.#record(name, entry);
    return { value: stepValue<Value>(entry, name), replayed: false };
  }

  async #attempted(
    name: string,
    perform: (call: StepCall) => Json | Promise<Json>,
    settings: StepSettings,
  ): Promise<JournalEntry> {
    const { runtime } = this.#options;
    const { runId, signal } = this;
    try {
      return { kind: 'value', text: await attemptStep({ runtime, runId, name, perform, settings, signal }) };
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'error', text: JSON.stringify(error) };
    }
  }

  async #sleep(name: string, ms: number): Promise<void> {
    checkDuration(ms, name);
    await this.#until(await this.#deadline(name, 'sleep', ms));
  }

  async #waitFor(name: string, timeoutMs: number | undefined): Promise<Json | undefined> {
    if (timeoutMs !== undefined) checkDuration(timeoutMs, name);
    const deadline = timeoutMs === undefined ? undefined : await this.#deadline(name, 'wait', timeoutMs);
    if (deadline === undefined) this.#begin(name);
    const text = await this.#signalled(name, deadline);
    return text === null ? undefined : JSON.parse(text);
  }

  /** Returns when a sleep or a wait ends, as recorded when it first started. */
  async #deadline(name: string, kind: 'sleep' | 'wait', ms: number): Promise<number> {
    const kept = this.#begin(name);
    if (kept !== undefined) {
      if (kept.kind !== kind) throw stepMismatch(name);
      return kept.at;
    }
    const at = this.#options.runtime.now() + ms;
    await this.#record(name, { kind, at });
    return at;
  }

  async #until(at: number, signal: AbortSignal = this.signal): Promise<void> {
    const { runtime } = this.#options;
    // Uses the wall clock, which continues while no process works on the run. A timer may fire slightly early.
    for (let left = at - runtime.now(); left > 0; left = at - runtime.now())
      await pause(runtime, Math.min(Math.max(left, 1), maxTimer), signal);
    this.signal.throwIfAborted();
  }

  async #signalled(name: string, deadline: number | undefined): Promise<string | null> {
    const { journal } = this.#options;
    const here = journal.signalled(this.runId, name);
    if (here !== undefined) return here;
    const came = await this.#comes(name, deadline);
    if (came !== undefined) return came;
    try {
      return await journal.giveUp(this.claimed, name);
    } catch (error) {
      throw this.#refused(error);
    }
  }

  /** Resolves with the signal, or undefined if the deadline passes first. */
  async #comes(name: string, deadline: number | undefined): Promise<string | null | undefined> {
    const { journal } = this.#options;
    const ends = new AbortController();
    const end = () => ends.abort();
    this.signal.addEventListener('abort', end, { once: true });
    let came: string | null | undefined;
    this.#waiting.set(name, () => {
      came = journal.signalled(this.runId, name);
      if (came !== undefined) ends.abort();
    });
    try {
      await this.#until(deadline ?? Number.POSITIVE_INFINITY, ends.signal);
    } catch {
      // Ended early, by the signal or by the end of the run.
    } finally {
      this.#waiting.delete(name);
      this.signal.removeEventListener('abort', end);
    }
    this.signal.throwIfAborted();
    return came;
  }

  /** Reserves the name of a step, and returns its journal entry if there is one. */
  #begin(name: string): JournalEntry | undefined {
    this.signal.throwIfAborted();
    this.#names.take(name);
    return this.#options.journal.find(this.runId, name);
  }

  async #record(name: string, entry: JournalEntry): Promise<void> {
    this.signal.throwIfAborted();
    try {
      await this.#options.journal.record(this.claimed, name, entry);
    } catch (error) {
      throw this.#refused(error);
    }
    this.signal.throwIfAborted();
  }

  /** Stops a run whose journal write failed, and returns the reason, which its steps throw. */
  #refused(thrown: unknown): AgentError {
    const error = AgentError.from(thrown);
    this.#options.onRefused(error);
    this.stop(error);
    return AgentError.from(this.signal.reason);
  }

  /** Ends the run: steps that the workflow did not await are lost. */
  end(): void {
    this.stop(runEnded(this.runId));
  }
}

/**
 * Returns the value of a completed step.
 * @throws AgentError that the step threw.
 */
function stepValue<Value extends Json>(entry: JournalEntry, name: string): Value {
  if (entry.kind === 'value') return JSON.parse(entry.text) as Value;
  if (entry.kind === 'error') throw new AgentError(JSON.parse(entry.text) as ErrorData);
  throw stepMismatch(name);
}
