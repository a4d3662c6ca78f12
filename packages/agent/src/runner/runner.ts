import type { ErrorData } from '../values/errors.ts';
import type { Json } from '../values/json.ts';

/** What a step's function is given. */
export interface StepCall {
  readonly name: string;
  /** 1 for the first try that this process knows of. */
  readonly attempt: number;
  /** The same for every attempt at this step, in whatever process; different for every other step. */
  readonly idempotencyKey: string;
  /**
   * Aborted with an AgentError: `aborted` with code `cancelled` when the run is cancelled or `closed` when its
   * runner is, `timeout` when the attempt's time is over.
   */
  readonly signal: AbortSignal;
}

/** How often a step that failed is tried again. The pause doubles from `firstMs` up to `maxMs`. */
export interface StepRetry {
  readonly retries: number;
  readonly firstMs: number;
  /** Default 60,000 ms. */
  readonly maxMs?: number;
}

/** What a step may take: attempts and time. */
export interface StepSettings {
  /** Default: no second try. Errors that a repetition cannot mend are never tried again. */
  readonly retry?: StepRetry;
  /** For one attempt. Default 600,000 ms. */
  readonly timeoutMs?: number;
}

/** What a step gave, now or in an earlier life of the run. */
export interface StepValue<Value> {
  readonly value: Value;
  /** Whether the value came from the journal, so that the function did not run now. */
  readonly replayed: boolean;
}

/**
 * What a routine does durable things with. After a crash the routine runs again from its beginning; steps that
 * have a result in the journal give it without running. So whatever a routine does outside of steps must come
 * out the same each time, and names come from positions, never from time or chance. Steps may run side by side
 * when they are begun in the same order each time.
 */
export interface Steps {
  readonly runId: string;
  /** Aborted like a step's when the run is cancelled or its runner closed: what runs between steps stops too. */
  readonly signal: AbortSignal;
  /**
   * Runs a function and records its result, at most once. The function itself runs at least once: a crash after
   * it and before the record makes it run again, so what must not happen twice uses `idempotencyKey`.
   * @throws AgentError the function's own, by kind, code and message, also when it comes from the journal;
   * `timeout`; `aborted` when the run is cancelled; `invalid` with code `step_name` for a name used before,
   * `too_large` for a result over {@link maxResultBytes}, `not_json` for one that JSON cannot hold.
   */
  run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings?: StepSettings,
  ): Promise<StepValue<Value>>;
  /** Waits, across restarts, until `ms` have passed since it was first begun. */
  sleep(name: string, ms: number): Promise<void>;
  /** What was signalled under this name, earlier or later; nothing once the time is over. The first signal counts. */
  waitFor(name: string, options?: { readonly timeoutMs?: number }): Promise<Json | undefined>;
}

/** Work made of steps. What it throws is how the run failed. */
export type Routine<Input extends Json = Json, Output extends Json = Json> = (
  input: Input,
  steps: Steps,
) => Promise<Output>;

/** Where a run is. `unknown`: no run of that name was ever started, or it is not kept any more. */
export type RoutineStatus<Output extends Json = Json> =
  | { readonly state: 'unknown' | 'queued' | 'running' | 'cancelled' }
  | { readonly state: 'done'; readonly output: Output }
  | { readonly state: 'failed'; readonly error: ErrorData };

/** Which run is begun, and what it waits for. */
export interface StartOptions {
  /** Names the run; a run of that name that exists already is not started again. Letters, digits and `._:-`. */
  readonly runId: string;
  /** Runs with the same key are worked off one after another, in the order in which they were started. */
  readonly key?: string;
  /** What becomes of a run whose key is taken. Default `queue`. */
  readonly whenBusy?: 'queue' | 'reject';
}

/**
 * Sees to it that routines come to their end: in this process, across crashes, or on an engine. One routine a
 * runner. `runnerContract` in the testing entry is what an implementation has to pass.
 */
export interface Runner<Input extends Json = Json, Output extends Json = Json> {
  /** Whether runs outlive the process. */
  readonly durable: boolean;
  /**
   * Starts a run; resolves when it is recorded and will not be lost. False: it had been started before.
   * @throws AgentError `invalid`: code `run_id`, `busy` (its key is taken and `whenBusy` is `reject`),
   * `too_large`, `not_json`, or `closed`.
   */
  start(input: Input, options: StartOptions): Promise<boolean>;
  /** Gives a run what it waits for, or will. False: no such run, it is over, or that name has had its signal. */
  signal(runId: string, name: string, value: Json): Promise<boolean>;
  /** Stops a run, also in the middle of a step. False: no such run, or it is over. */
  cancel(runId: string): Promise<boolean>;
  status(runId: string): Promise<RoutineStatus<Output>>;
  /**
   * Resolves with a run's output when it is over.
   * @throws AgentError how it failed; `aborted` when it was cancelled or `signal` fires; `invalid`, code `no_run`.
   */
  result(runId: string, options?: { readonly signal?: AbortSignal }): Promise<Output>;
  /** Stops working without ending what is under way: a durable runner goes on with it when it is opened again. */
  close(): Promise<void>;
}
