import { AgentError, withArgumentErrors } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, any, oneOf, read, record, text } from '../values/input.ts';
import { shown } from '../values/invalid-value.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import { checkRunId, runCancelled, runNotFound } from './attempts.ts';
import type { StartOptions, WorkflowStatus } from './runner.ts';

/** Maximum number of runs with one key that are due and wait for each other. */
export const maxQueued = 1_000;

/** A run that this runner works on, until another runner takes it over. */
export interface ClaimedRun {
  readonly runId: string;
  /** Larger than that of every earlier owner: a write with an older epoch is rejected. */
  readonly epoch: number;
  /** The input as JSON. */
  readonly input: string;
}

/** A run to be recorded. */
export interface NewRun {
  readonly runId: string;
  readonly key: string | undefined;
  /** The input as JSON. */
  readonly input: string;
  /** The earliest time of its first claim, in milliseconds since 1970; undefined: now. */
  readonly dueAt: number | undefined;
}

/** The end of a run, with its output or its error as JSON. */
export interface RunEndState {
  readonly state: 'done' | 'failed';
  readonly text: string;
}

/** The status of a run. */
export type RunRecord =
  | { readonly state: 'queued' }
  | { readonly state: 'running'; readonly epoch: number }
  | { readonly state: 'cancelled' }
  | RunEndState;

/** The result of recording a run; `run` if it was also claimed. */
export type Put =
  | { readonly result: 'exists' }
  | { readonly result: 'busy' }
  | { readonly result: 'put'; readonly run?: ClaimedRun };

/** The result of ending a run. */
export interface Freed {
  readonly isOver: boolean;
  /** The next run with the same key, now claimed by this runner. */
  readonly next?: ClaimedRun;
}

/** Retention of ended runs. */
export interface RunRetention {
  /** Maximum age in milliseconds. Default 30 days. */
  readonly maxAgeMs?: number;
  /** Maximum number of ended runs. Default 10,000. */
  readonly maxRuns?: number;
}

/**
 * The runs to execute, in the order of their keys, and the signals they have received. It does not contain the results
 * of a run: they are in the log of its session, or in other data of its workflow. Writes are atomic and
 * have completed when their promise resolves; a write with an outdated epoch rejects with code `fenced`.
 */
export interface Inbox {
  readonly durable: boolean;
  /** Interval between checks for changes by other processes, in milliseconds; undefined if there are no other processes. */
  readonly lookMs?: number;
  /**
   * Records a run, and claims it if it is due and no run with its key is ahead of it. The result is `busy`, and nothing is
   * recorded, if more than `maxAhead` runs with its key are due and have not ended.
   */
  put(run: NewRun, maxAhead: number): Promise<Put>;
  /** Claims some free runs that are due and first of their key; returns an empty list if there are none. */
  claimDue(): Promise<readonly ClaimedRun[]>;
  /** Releases a run unfinished. */
  release(run: ClaimedRun): Promise<void>;
  /** Ends a run. */
  ack(run: ClaimedRun, outcome: RunEndState): Promise<Freed>;
  /** Ends a run, even if another process has claimed it. */
  cancel(runId: string): Promise<Freed>;
  /** Stores a signal. Returns false if the run has ended, already has a signal of this name, or no longer waits for one. */
  signal(runId: string, name: string, text: string): Promise<boolean>;
  /** Returns a signal as JSON, null if waiting for it has timed out, or undefined if it can still arrive. */
  signalled(runId: string, name: string): Awaitable<string | null | undefined>;
  /** Stops waiting for a signal unless it has arrived: whichever happens first is kept. */
  giveUp(run: ClaimedRun, name: string): Promise<string | null>;
  standing(runId: string): Awaitable<RunRecord | undefined>;
  /** Returns whether another process has written since the last call. */
  hasNews(): Awaitable<boolean>;
  /** Releases all runs. */
  close(): Promise<void>;
}

type Awaitable<Value> = Value | Promise<Value>;

const startOptions = record<StartOptions>({
  runId: any,
  key: text,
  whenBusy: oneOf('queue', 'reject'),
  dueAt: any,
});

/**
 * Reads the arguments of `Runner.start`. `maxAhead` is the maximum number of due runs with the same key ahead of this one.
 * @throws AgentError `invalid`, code `run_id`, `due_at`, `not_json`, `too_large` or `bad_option`.
 */
export function readStart(input: Json, options: StartOptions): NewRun & { readonly maxAhead: number } {
  const { runId, key, whenBusy, dueAt } = read(options, startOptions);
  checkRunId(runId);
  if (dueAt !== undefined && !(Number.isFinite(dueAt) && dueAt >= 0)) {
    const message = `Run ${runId} has no valid due time: ${shown(dueAt)}. Set dueAt to a time in milliseconds since 1970.`;
    throw new AgentError({ kind: 'invalid', code: 'due_at', message });
  }
  const maxAhead = whenBusy === 'reject' ? 0 : maxQueued;
  return { runId, key, input: plainJson(input, `The input of run ${runId}`), dueAt, maxAhead };
}

/** Returns the status of a run for its callers; undefined is a run that is not known. `text` is the output or error as JSON. */
export function statusOf(
  run: { readonly state: WorkflowStatus['state']; readonly text?: string | undefined } | undefined,
): WorkflowStatus {
  return withArgumentErrors('statusOf', () => {
    const { state, text: json = 'null' } = run ?? { state: 'unknown' };
    if (state === 'done') return { state, output: JSON.parse(json) };
    if (state === 'failed') return { state, error: JSON.parse(json) };
    return { state };
  });
}

/**
 * Returns the output of a run that was successful; undefined for a run that has not ended.
 * @throws AgentError the error of the run; `aborted` if it was cancelled; `invalid`, code `no_run`, if it is not known.
 */
export function outputOf(runId: string, status: WorkflowStatus): Json | undefined {
  return withArgumentErrors('outputOf', () => {
    if (status.state === 'done') return JSON.parse(plainJson(status.output, `The output of run ${runId}`));
    if (status.state === 'failed') throw new AgentError(status.error);
    if (status.state === 'cancelled') throw runCancelled(runId);
    if (status.state === 'unknown') throw runNotFound(runId);
    return undefined;
  });
}

/** Creates the error for a writer whose run was cancelled or taken over by another process. */
export function fencedRun(runId: string): AgentError {
  return withArgumentErrors('fencedRun', () => {
    const message = `Run ${runId} no longer belongs to this runner.`;
    return new AgentError({ kind: 'invalid', code: 'fenced', message });
  });
}

/** Reads a retention. */
export const readRunRetention: Reader<RunRetention> = record<RunRetention>({
  maxAgeMs: amount,
  maxRuns: amount,
});

/**
 * Returns the options with defaults filled in.
 * @throws AgentError `invalid`, code `retention`.
 */
export function filledRetention(given: RunRetention = {}): {
  readonly maxAgeMs: number;
  readonly maxRuns: number;
} {
  return withArgumentErrors('filledRetention', () => {
    const { maxAgeMs = 30 * 86_400_000, maxRuns = 10_000 } = given;
    if (maxAgeMs >= 0 && maxRuns >= 1) return { maxAgeMs, maxRuns };
    const message = `The retention setting for runs that have ended is invalid: maxAgeMs is ${maxAgeMs}, maxRuns is ${maxRuns}. Set maxAgeMs to at least 0 and maxRuns to at least 1.`;
    throw new AgentError({ kind: 'invalid', code: 'retention', message });
  });
}
