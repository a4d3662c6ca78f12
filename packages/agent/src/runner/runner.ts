import type { ErrorData } from '../values/errors.ts';
import type { Json } from '../values/json.ts';

/** The argument of a step's function. */
export interface StepCall {
  readonly name: string;
  /** Number of the attempt; 1 for the first in this call of the workflow. */
  readonly attempt: number;
  /** The same for every step of this name in this run, in any process; different for every other name and run. */
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

/**
 * The operations of one call of a workflow. None of them records a result: what a workflow has done must be visible
 * in data of its own, such as the log of a session.
 */
export interface Steps {
  readonly runId: string;
  /** Aborted like the signal of a step if the run is cancelled or its runner is closed, to stop code between steps. */
  readonly signal: AbortSignal;
  /**
   * Runs a function with a time limit and retries, and returns its result.
   * @throws AgentError the function's own; `timeout`; `aborted` if the run is cancelled; `invalid`, code `run_over`,
   * after this call of the workflow has ended.
   */
  run<Value>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings?: StepSettings,
  ): Promise<Value>;
  /**
   * Returns the first signal of this name, whether it was sent before or after the call; undefined if none was sent by
   * the time `until`, in milliseconds since 1970. A later one is rejected. No process is needed during the wait: the
   * method ends this call of the workflow by throwing, and the runner calls the workflow again afterwards. To wait for the
   * first of several signals, catch the error, ask for the next one, and rethrow the error at the end.
   * @throws AgentError `aborted`, code `run_waiting`: rethrow it; `invalid`, code `until`.
   */
  waitFor(name: string, options?: { readonly until?: number }): Promise<Json | undefined>;
  /**
   * Tells the runner that the workflow has just recorded an action, so that later calls skip it. An engine whose steps
   * should stay short ends this call here, as `waitFor` does, and calls the workflow again. Never call it for an action
   * of an earlier call: the workflow would not get beyond it.
   */
  checkpoint(): Promise<void>;
}

/**
 * A workflow. The runner calls it until it returns its output or throws the error of the run: when the run starts, after
 * each wait, and after a crash. Each call starts from the beginning, so actions must be safe to repeat, or be skipped if the
 * workflow's own data shows that they are done.
 */
export type Workflow<Input extends Json = Json, Output extends Json = Json> = (
  input: Input,
  steps: Steps,
) => Promise<Output>;

/** The status of a run. `unknown`: no run with this id was ever started, or it is no longer kept. */
export type WorkflowStatus<Output extends Json = Json> =
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
  /** The earliest time of the first call, in milliseconds since 1970. Until then the run does not use its key. */
  readonly dueAt?: number;
}

/**
 * Runs workflows to completion: in this process, across crashes, or on an external engine. A runner has one workflow.
 * An implementation must pass `runnerContract` of `@cobbler/conformance`.
 */
export interface Runner<Input extends Json = Json, Output extends Json = Json> {
  /** True if runs survive the end of the process. */
  readonly durable: boolean;
  /**
   * Starts a run; resolves after it is recorded and cannot be lost. Returns false if it was already started.
   * @throws AgentError `invalid`: code `run_id`, `busy` (its key is in use and `whenBusy` is `reject`, or 1,000 runs
   * with its key wait), `due_at`,
   * `too_large`, `not_json`, or `closed`.
   */
  start(input: Input, options: StartOptions): Promise<boolean>;
  /**
   * Sends a signal to a run, even before the run waits for it. Returns false if the run does not exist or has ended,
   * this name has already received its signal, or the wait for it is over.
   */
  signal(runId: string, name: string, value: Json): Promise<boolean>;
  /** Cancels a run, even in the middle of a step. Returns false if the run does not exist or has ended. */
  cancel(runId: string): Promise<boolean>;
  status(runId: string): Promise<WorkflowStatus<Output>>;
  /**
   * Resolves with the output of a run when it ends.
   * @throws AgentError the error of the run; `aborted` if it was cancelled or `signal` aborts; `invalid`, code
   * `no_run`.
   */
  result(runId: string, options?: { readonly signal?: AbortSignal }): Promise<Output>;
  /** Stops without ending unfinished runs: a durable runner resumes them when it is opened again. */
  close(): Promise<void>;
}
