import { backoff } from '../values/backoff.ts';
import { AgentError, withArgumentErrors } from '../values/errors.ts';
import { signal as abortSignal, amount, callable, read, record, text, withMethods } from '../values/input.ts';
import { shown } from '../values/invalid-value.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { StepCall, StepRetry, StepSettings } from './runner.ts';

/** The code that all runners share: ids, keys, attempts, errors as data. */

const defaultTimeoutMs = 600_000;
const defaultMaxPauseMs = 60_000;

/** Length to which an error message is cut if the error is too large to be stored. */
const keptMessage = 10_000;

const runIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Checks a run id.
 * @throws AgentError `invalid`, code `run_id`.
 */
export function checkRunId(runId: unknown): void {
  if (typeof runId === 'string' && runIdPattern.test(runId)) return;
  const message = `${shown(runId)} is not a valid run id. Use 1 to 128 characters from A-Z, a-z, 0-9, ".", "_", ":" and "-".`;
  throw new AgentError({ kind: 'invalid', code: 'run_id', message });
}

/** Creates the error for a step of a call that has ended. */
export function runEnded(runId: string): AgentError {
  return withArgumentErrors('runEnded', () => {
    const message = `Run ${runId} has ended; a step that starts now would be lost. Await each step before the workflow returns.`;
    return new AgentError({ kind: 'invalid', code: 'run_over', message });
  });
}

/** Creates the error of a cancelled run. */
export function runCancelled(runId: string): AgentError {
  return withArgumentErrors(
    'runCancelled',
    () => new AgentError({ kind: 'aborted', code: 'cancelled', message: `Run ${runId} was cancelled.` }),
  );
}

/** Creates the error for a run that was not started because more than `maxAhead` with its key are unfinished. */
export function runBusy(runId: string, key: string | undefined, maxAhead = 0): AgentError {
  return withArgumentErrors('runBusy', () => {
    const others = maxAhead === 0 ? 'another unfinished run' : `${maxAhead + 1} unfinished runs, the maximum`;
    const message = `Run ${runId} was not started: the key ${JSON.stringify(key)} has ${others}.`;
    return new AgentError({ kind: 'invalid', code: 'busy', message });
  });
}

/** Creates the error for a run that the runner does not know. */
export function runNotFound(runId: string): AgentError {
  const message = `Run ${runId} does not exist: it was never started, or it ended and is no longer kept.`;
  return new AgentError({ kind: 'invalid', code: 'no_run', message });
}

/** Returns the error of an aborted wait for a run: the signal's reason if that is an error of kind `aborted`. */
export function waitAborted(runId: string, reason: unknown): AgentError {
  return withArgumentErrors('waitAborted', () => {
    if (AgentError.is(reason) && reason.kind === 'aborted') return reason;
    const message = `The wait for run ${runId} ended; the run continues.`;
    return new AgentError({ kind: 'aborted', code: 'not_awaited', message });
  });
}

/** Creates the error of a closed runner: `invalid` for new calls, `aborted` for the work that it was doing. */
export function runnerClosed(kind: 'invalid' | 'aborted' = 'invalid'): AgentError {
  return withArgumentErrors(
    'runnerClosed',
    () => new AgentError({ kind, code: 'closed', message: 'The runner has been closed.' }),
  );
}

/** Returns the same promise, marked as handled: a step that nobody awaits must not end the process when it fails. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Converts a thrown value to an AgentError small enough to be stored. */
export function toSerializableError(thrown: unknown): AgentError {
  const error = AgentError.from(thrown);
  try {
    plainJson(error.toJSON(), 'The error');
    return error;
  } catch {
    const { kind, code, retryable, message } = error;
    return new AgentError({
      kind,
      ...(code !== undefined && { code: code.slice(0, 100) }),
      retryable,
      message: message.slice(0, keptMessage),
    });
  }
}

/** One step to run, with as many attempts as its settings allow. */
export interface StepWork<Value> {
  readonly runtime: Runtime;
  readonly runId: string;
  readonly name: string;
  readonly perform: (call: StepCall) => Value | Promise<Value>;
  readonly settings: StepSettings;
  /** Ends the step immediately; its reason is then thrown. */
  readonly signal: AbortSignal;
}

const stepSettings = record<StepSettings>({
  retry: record<StepRetry>({ retries: amount, firstMs: amount, maxMs: amount }, ['retries', 'firstMs']),
  timeoutMs: amount,
});

const stepWork = record<StepWork<unknown>>(
  {
    runtime: withMethods('timer', 'digest'),
    runId: text,
    name: text,
    perform: callable,
    settings: stepSettings,
    signal: abortSignal,
  },
  ['runtime', 'runId', 'name', 'perform', 'settings', 'signal'],
);

/**
 * Runs a step's function until it succeeds or may not be retried.
 * @throws AgentError of the function, or the signal's reason.
 */
export async function attemptStep<Value>(work: StepWork<Value>): Promise<Value> {
  const own = read(work, stepWork, 'work') as StepWork<Value>;
  const { runtime, runId, name, settings, signal } = own;
  const { retry } = settings;
  const idempotencyKey = await runtime.digest(JSON.stringify([runId, name]));
  for (let attempt = 1; ; attempt += 1) {
    try {
      const value = await oneAttempt(own, attempt, idempotencyKey);
      signal.throwIfAborted();
      return value;
    } catch (thrown) {
      signal.throwIfAborted();
      if (retry === undefined || attempt > retry.retries || (AgentError.is(thrown) && !thrown.retryable))
        throw AgentError.from(thrown);
      await pause(runtime, pauseOf(retry, attempt, thrown), signal);
    }
  }
}

const pauseArguments = record({ runtime: withMethods<Runtime>('timer'), ms: amount, signal: abortSignal }, [
  'runtime',
  'ms',
  'signal',
]);

/** Resolves after a delay. Rejects with the signal's reason as soon as it aborts. */
export async function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  read({ runtime, ms, signal }, pauseArguments, 'arguments');
  await new Promise<void>((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      takeBack();
      reject(signal.reason);
    };
    const takeBack = runtime.timer(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Makes one attempt. A function that ignores its signal is abandoned; its later result is discarded. */
function oneAttempt<Value>(work: StepWork<Value>, attempt: number, idempotencyKey: string): Promise<Value> {
  const { runtime, name, perform, settings, signal } = work;
  const { timeoutMs = defaultTimeoutMs } = settings;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const controller = new AbortController();
    const end = () => {
      takeBack();
      signal.removeEventListener('abort', onAbort);
    };
    const stop = (reason: unknown) => {
      end();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => stop(signal.reason);
    const takeBack = runtime.timer(timeoutMs, () => stop(timedOut(name, timeoutMs)));
    signal.addEventListener('abort', onAbort, { once: true });
    const call = { name, attempt, idempotencyKey, signal: controller.signal };
    // Wrapped in an async function, so that a synchronous exception becomes a rejection.
    const outcome = (async () => await perform(call))();
    outcome.finally(end).then(resolve, reject);
  });
}

/** Returns the delay before a retry: doubled each time, and never shorter than a service asks for. */
function pauseOf(
  { firstMs, maxMs = defaultMaxPauseMs }: StepRetry,
  attempt: number,
  thrown: unknown,
): number {
  const doubled = backoff({ baseMs: firstMs, maxMs }, attempt - 1);
  return Math.max(doubled, AgentError.is(thrown) ? (thrown.retryAfterMs ?? 0) : 0);
}

function timedOut(name: string, timeoutMs: number): AgentError {
  const message = `Step ${JSON.stringify(name)} took longer than its time limit of ${timeoutMs} ms.`;
  return new AgentError({ kind: 'timeout', code: 'step', message, retryable: true });
}
