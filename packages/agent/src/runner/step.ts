import { backoff } from '../values/backoff.ts';
import { AgentError } from '../values/errors.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { StepCall, StepRetry, StepSettings } from './runner.ts';

/** What every runner does the same: names, keys, attempts, errors as data. */

/** Longest name of a step, in characters: what every engine takes. */
const maxNameLength = 256;

const defaultTimeoutMs = 600_000;
const defaultMaxPauseMs = 60_000;

/** Length beyond which an error's message is cut when the error is too large to be kept. */
const keptMessage = 10_000;

/** What the id of a run looks like. */
const runIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** @throws AgentError `invalid`, code `run_id`. */
export function checkRunId(runId: string): void {
  if (runIdPattern.test(runId)) return;
  const message = `A run cannot be called ${JSON.stringify(runId.slice(0, 140))}: a run id has 1 to 128 letters, digits and . _ : -`;
  throw new AgentError({ kind: 'invalid', code: 'run_id', message });
}

/** A duration of a sleep or a wait. @throws AgentError `invalid`, code `duration`. */
export function checkDuration(ms: number, name: string): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  const message = `${quoted(name)} cannot take ${ms} ms: a duration is a number from 0 up.`;
  throw new AgentError({ kind: 'invalid', code: 'duration', message });
}

/** The names that a run has given to its steps, sleeps and waits; all from one set. */
export class StepNames {
  readonly #taken = new Set<string>();

  /** @throws AgentError `invalid`, code `step_name`. */
  take(name: string): void {
    if (typeof name !== 'string' || name === '' || name.length > maxNameLength || !name.isWellFormed())
      throw badName(
        `A step's name is a text of 1 to ${maxNameLength} characters without halves of surrogate pairs.`,
      );
    if (this.#taken.has(name))
      throw badName(
        `This run has a step ${quoted(name)} already. Its result would be taken for this one's; give each step a name of its own, made from its position.`,
      );
    this.#taken.add(name);
  }
}

/** A journal says that a step was something else when the run was here before. */
export function stepMismatch(name: string): AgentError {
  const message = `${quoted(name)} was another kind of step when this run was here before. What a routine does outside of steps has to come out the same each time; give a changed routine a new version.`;
  return new AgentError({ kind: 'invalid', code: 'replay', message });
}

/** A step of a run that has come to its end. */
export function runEnded(runId: string): AgentError {
  const message = `Run ${runId} is over; a step that begins now would be lost. Wait for each step before the routine returns.`;
  return new AgentError({ kind: 'invalid', code: 'run_over', message });
}

/** How a run that was cancelled ends. */
export function runCancelled(runId: string): AgentError {
  return new AgentError({ kind: 'aborted', code: 'cancelled', message: `Run ${runId} was cancelled.` });
}

/** A run that is not started, because one with its key is at work. */
export function runBusy(runId: string, key: string | undefined): AgentError {
  const message = `Run ${runId} was not started: another run with the key ${JSON.stringify(key)} is not over.`;
  return new AgentError({ kind: 'invalid', code: 'busy', message });
}

/** A run that a runner does not know. */
export function runNotFound(runId: string): AgentError {
  const message = `There is no run ${runId}: it was never started, or ended so long ago that it is no longer kept.`;
  return new AgentError({ kind: 'invalid', code: 'no_run', message });
}

/** How waiting for a run ends whose signal fired: with the signal's reason, if that is an error `aborted`. */
export function waitAborted(runId: string, reason: unknown): AgentError {
  if (AgentError.is(reason) && reason.kind === 'aborted') return reason;
  const message = `The wait for run ${runId} ended; the run continues.`;
  return new AgentError({ kind: 'aborted', code: 'not_awaited', message });
}

/** A runner that is closed: for who asks it something then, and with `aborted` for what it was doing. */
export function runnerClosed(kind: 'invalid' | 'aborted' = 'invalid'): AgentError {
  return new AgentError({ kind, code: 'closed', message: 'The runner has been closed.' });
}

/** A step as a routine is given it: one that it does not wait for must not end the process when it fails. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Reference of a step for services that drop what they have had before: the same for all attempts. */
export function stepKey(runtime: Runtime, runId: string, name: string): Promise<string> {
  return runtime.digest(JSON.stringify([runId, name]));
}

/** What was thrown as an AgentError that fits into a journal as data. */
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

/** One step to be tried, as often as its settings allow. */
export interface StepWork {
  readonly runtime: Runtime;
  readonly runId: string;
  readonly name: string;
  readonly perform: (call: StepCall) => Json | Promise<Json>;
  readonly settings: StepSettings;
  /** Ends the step at once; its reason is what is thrown then. */
  readonly signal: AbortSignal;
}

/**
 * Runs a step's function until it succeeds or may not be tried again, and gives its result as JSON text.
 * @throws AgentError that can be kept as data, or the signal's reason.
 */
export async function attemptStep(work: StepWork): Promise<string> {
  const { runtime, runId, name, settings, signal } = work;
  const { retry } = settings;
  const idempotencyKey = await stepKey(runtime, runId, name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const value = await oneAttempt(work, attempt, idempotencyKey);
      return plainJson(value, `The result of step ${quoted(name)}`);
    } catch (thrown) {
      signal.throwIfAborted();
      if (retry === undefined || attempt > retry.retries || !mayMend(thrown))
        throw toSerializableError(thrown);
      await pause(runtime, pauseOf(retry, attempt, thrown), signal);
    }
  }
}

/** Resolves after a time. Rejects with the signal's reason as soon as it fires. */
export function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
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

/** A function that does not heed its signal is left behind: what comes of it later is dropped. */
function oneAttempt(work: StepWork, attempt: number, idempotencyKey: string): Promise<unknown> {
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
    // In a function of its own, so that one that throws at once does so here too.
    const performed = (async () => await perform(call))();
    performed.finally(end).then(resolve, reject);
  });
}

function mayMend(thrown: unknown): boolean {
  return !AgentError.is(thrown) || thrown.retryable;
}

/** Doubled each time; never shorter than a service asked for. */
function pauseOf(
  { firstMs, maxMs = defaultMaxPauseMs }: StepRetry,
  attempt: number,
  thrown: unknown,
): number {
  const doubled = backoff({ baseMs: firstMs, maxMs }, attempt - 1);
  return Math.max(doubled, AgentError.is(thrown) ? (thrown.retryAfterMs ?? 0) : 0);
}

function timedOut(name: string, timeoutMs: number): AgentError {
  const message = `Step ${quoted(name)} took longer than ${timeoutMs} ms.`;
  return new AgentError({ kind: 'timeout', code: 'step', message, retryable: true });
}

function badName(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'step_name', message });
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
