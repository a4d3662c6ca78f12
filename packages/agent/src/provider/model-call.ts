import { AgentError } from '../values/errors.ts';
import type { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { Runtime } from '../values/runtime.ts';
import { addUsage, isNoUsage } from '../values/usage.ts';
import type { Attempt, FailedAttempt } from './attempt.ts';
import { HttpExchange } from './exchange.ts';
import type { RetryPlan } from './retry-policy.ts';
import { planRetry } from './retry-policy.ts';

/** One model call, with as many attempts as its retry policy and timeout allow. */
export interface ModelCall extends Attempt {
  /** Time of the first attempt, on the monotonic clock. */
  readonly began: number;
}

type Wait = Extract<RetryPlan, { type: 'wait' }>;

/** The failed attempts so far, without their cost. */
interface RetryState {
  /** Number of failed attempts, including those that sent no request. */
  readonly failures: number;
  /** Number of failed attempts that count toward the maximum number of retries. */
  readonly counted: number;
  /** Time of the first failure, on the monotonic clock. */
  readonly since: number;
}

/** Makes attempts until one succeeds or no other is worthwhile. Only this retries. An error has attempts and wasted tokens. */
export function callModel(call: ModelCall): void {
  // Usually the first attempt succeeds, so the retry state is created only after a failure.
  new HttpExchange(call, (failed) => void askAgain(call, failed)).start(call.began);
}

async function askAgain(
  call: ModelCall,
  failed: FailedAttempt,
  before: Partial<RetryState> = {},
): Promise<void> {
  const { owner, service } = call;
  const { runtime } = service;
  try {
    const { failures = 0, counted = 0, since = runtime.monotonic() } = before;
    const account = { failures: failures + 1, counted: counted + (failed.counted ? 1 : 0), since };
    const expired = expiredCredentials(call, failed);
    const next = {
      ...call,
      attempts: call.attempts + (failed.sent ? 1 : 0),
      wasted: addUsage(call.wasted, failed.wasted),
      rejected: expired ?? call.rejected,
    };
    if (expired === undefined) {
      const plan = await pauseBefore(next, failed, account);
      emitRetry(call, failed.error, account.failures, plan);
      await pause(runtime, plan.delayMs, owner.stop);
    }
    new HttpExchange(next, (again) => void askAgain(next, again, account)).start(runtime.monotonic());
  } catch (error) {
    owner.reject(error);
  }
}

/** Returns the credentials to replace at once. A call replaces them once, because the service may reject the next too. */
function expiredCredentials({ rejected }: ModelCall, { error, credentials }: FailedAttempt) {
  return error.kind === 'auth' && rejected === undefined ? credentials : undefined;
}

/** Returns the delay before the next attempt; throws if there is none. */
async function pauseBefore(
  call: ModelCall,
  { error, retry }: FailedAttempt,
  account: RetryState,
): Promise<Wait> {
  const { runtime } = call.service;
  const plan = planRetry(call.service.retry, {
    failures: account.failures,
    counted: account.counted,
    elapsedMs: runtime.monotonic() - account.since,
    retryable: retry,
    retryAfterMs: error.retryAfterMs,
    remainingMs: call.deadline - runtime.monotonic(),
    random: retry ? runtime.random() : 0,
  });
  if (plan.type === 'wait' && (await isPaidFor(call))) return plan;
  // Promise 7: whatever the status, a service that asks for a much longer delay is rate-limiting.
  throw withTotals(error, call, plan.type === 'too_long' ? 'rate_limit' : error.kind);
}

async function isPaidFor({ owner, wasted }: ModelCall): Promise<boolean> {
  try {
    return (await owner.mayRetry?.(wasted)) ?? true;
  } catch {
    return false;
  }
}

/** Returns the error with the cost of its attempts. An error without cost, such as an early abort, is returned unchanged. */
function withTotals(error: AgentError, { attempts, wasted }: ModelCall, kind = error.kind): AgentError {
  // The next attempt, which will not be made, counts in the call.
  if (attempts === 1 && isNoUsage(wasted)) return error;
  return new AgentError({ ...error.toJSON(), kind, attempts: attempts - 1, wasted });
}

function emitRetry(call: ModelCall, error: AgentError, attempt: number, { delayMs, leftMs }: Wait): void {
  const left = leftMs === undefined ? {} : { leftMs };
  const { owner } = call;
  if (owner.stop?.isStopRequested) return;
  try {
    owner.emit?.({ type: 'retry', attempt, error: error.toJSON(), delayMs, ...left });
  } catch {
    // Errors of the listener are ignored.
  }
}

/** Resolves after the delay or when the call must stop; the next attempt checks that before it sends anything. */
function pause(runtime: Runtime, delayMs: number, stop: LazyAbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stop?.isStopRequested) return resolve();
    const over = () => {
      takeBack();
      stop?.listen(undefined);
      resolve();
    };
    const takeBack = runtime.timer(delayMs, over);
    stop?.listen(over);
  });
}
