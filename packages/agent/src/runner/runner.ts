import type { ErrorData } from '../values/errors.ts';
import type { Json } from '../values/json.ts';

/** The argument of a step's function. */
export interface StepCall {
  readonly name: string;
  /** Number of the attempt; 1 for the first that this process knows of. */
  readonly attempt: number;
  /** The same for every attempt at this step, in any process; different for every other step. */
  readonly idempotencyKey: string;
  /**
   * Aborted with an AgentError: `aborted` with code `cancelled` if the run is cancelled or `closed` if its runner is
   * closed, `timeout` if the attempt takes too long.
   */
  readonly signal: AbortSignal;
}

/** The retry policy of a step. The delay doubles from `firstMs` up to `maxMs`. */
export interface StepRetry {
  readonly retries: number;
  readonly firstMs: number;
  /** Maximum delay. Default 60,000 ms. */
  readonly maxMs?: number;
}

/** Limits on the attempts and the time of a step. */
export interface StepSettings {
  /** Default: no retry. Errors that are not retryable are never retried. */
  readonly retry?: StepRetry;
  /** Timeout of one attempt. Default 600,000 ms. */
  readonly timeoutMs?: number;
}

/** The result of a step, from this execution or an earlier one. */
export interface StepValue<Value> {
  readonly value: Value;
  /** True if the value came from the journal, so that the function did not run now. */
  readonly replayed: boolean;
}

/**
 * The durable operations of a workflow. After a crash the workflow runs again from its beginning; steps with a result
 * in the journal return it without running. So everything a workflow does outside of steps must be deterministic, and
 * step names must come from positions, not from time or randomness. Steps may run in parallel if they are started in
 * the same order each time.
 */
export interface Steps {
  readonly runId: string;
  /** Aborted like the signal of a step if the run is cancelled or its runner is closed, to stop code between steps. */
  readonly signal: AbortSignal;
  /**
   * Runs a function and records its result, at most once. The function itself runs at least once: after a crash between
   * the function and the record it runs again, so operations that must not happen twice should use `idempotencyKey`.
   * @throws AgentError the function's own, by kind, code and message, also if it comes from the journal; `timeout`;
   * `aborted` if the run is cancelled; `invalid` with code `step_name` for a name already used, `too_large` for a
   * result over {@link maxResultBytes}, `not_json` for a result that JSON cannot represent.
   */
  run<Value extends Json>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings?: StepSettings,
  ): Promise<StepValue<Value>>;
  /** Waits until `ms` have passed since the sleep first started, even across restarts. */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * Resolves with the first signal of this name, whether it was sent before or after the call; undefined after a
   * timeout.
   */
  waitFor(name: string, options?: { readonly timeoutMs?: number }): Promise<Json | undefined>;
}

/** A workflow: a function made of steps. An error that it throws is the error of the run. */
export type Routine<Input extends Json = Json, Output extends Json = Json> = (
  input: Input,
  steps: Steps,
) => Promise<Output>;

/** The status of a run. `unknown`: no run with this id was ever started, or it is no longer kept. */
export type RoutineStatus<Output extends Json = Json> =
  | { readonly state: 'unknown' | 'queued' | 'running' | 'cancelled' }
  | { readonly state: 'done'; readonly output: Output }
  | { readonly state: 'failed'; readonly error: ErrorData };

/** Options of `start`. */
export interface StartOptions {
  /** The id of the run; an existing run with this id is not started again. Letters, digits and `._:-`. */
  readonly runId: string;
  /** Runs with the same key run one after another, in the order in which they were started. */
  readonly key?: string;
  /** The behavior if the key of a run is in use. Default `queue`. */
  readonly whenBusy?: 'queue' | 'reject';
}

/**
 * Runs workflows to completion: in this process, across crashes, or on an external engine. A runner has one workflow.
 * An implementation must pass `runnerContract` from the testing entry.
 */
export interface Runner<Input extends Json = Json, Output extends Json = Json> {
  /** True if runs survive the end of the process. */
  readonly durable: boolean;
  /**
   * Starts a run; resolves after it is recorded and cannot be lost. Returns false if it was already started.
   * @throws AgentError `invalid`: code `run_id`, `busy` (its key is in use and `whenBusy` is `reject`), `too_large`,
   * `not_json`, or `closed`.
   */
  start(input: Input, options: StartOptions): Promise<boolean>;
  /**
   * Sends a signal to a run, even before the run waits for it. Returns false if the run does not exist or has ended, or
   * this name has already received its signal.
   */
  signal(runId: string, name: string, value: Json): Promise<boolean>;
  /** Cancels a run, even in the middle of a step. Returns false if the run does not exist or has ended. */
  cancel(runId: string): Promise<boolean>;
  status(runId: string): Promise<RoutineStatus<Output>>;
  /**
   * Resolves with the output of a run when it ends.
   * @throws AgentError the error of the run; `aborted` if it was cancelled or `signal` aborts; `invalid`, code
   * `no_run`.
   */
  result(runId: string, options?: { readonly signal?: AbortSignal }): Promise<Output>;
  /** Stops without ending unfinished runs: a durable runner resumes them when it is opened again. */
  close(): Promise<void>;
}
