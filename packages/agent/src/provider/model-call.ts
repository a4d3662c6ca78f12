import type { ModelResponse, RequestContext } from '../interfaces/agent.ts';
import type { RetryPlan, RetryPolicy } from '../values/backoff.ts';
import { planRetry } from '../values/backoff.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Usage } from '../values/usage.ts';
import { addUsage, isNoUsage, noUsage } from '../values/usage.ts';
import type { Attempt, AttemptOutcome } from './attempt.ts';
import { exchange } from './exchange.ts';

/** One model call: as many attempts as its retry policy and its time allow. */
export interface ModelCall extends Attempt {
  readonly model: string;
  readonly retry: RetryPolicy;
  /** Whether the budget covers another attempt. */
  readonly mayRetry: RequestContext['mayRetry'];
}

type AnsweredAttempt = Extract<AttemptOutcome, { type: 'answered' }>;
type Failed = Extract<AttemptOutcome, { type: 'failed' }>;
type Wait = Extract<RetryPlan, { type: 'wait' }>;

/** What failed attempts have cost so far. */
interface RetryState {
  /** Attempts that failed, whether or not they came as far as a request. */
  readonly failures: number;
  /** Those of them that the number of retries bounds. */
  readonly counted: number;
  /** When the first one failed, on the monotonic clock. */
  readonly since: number;
  /** Requests made. */
  readonly attempts: number;
  readonly wasted: Usage;
}

const noFailure: RetryState = { failures: 0, counted: 0, since: 0, attempts: 0, wasted: noUsage };

/**
 * Asks until an attempt succeeds or no other is worth while. This is the only place that retries.
 * @throws AgentError with the attempts made and the tokens they wasted.
 */
export function callModel(call: ModelCall): Promise<ModelResponse> {
  // Mostly the first attempt succeeds: what keeps account of failures is made after one.
  return exchange(call).then((outcome) =>
    outcome.type === 'answered' ? responseOf(call, outcome, noFailure) : askAgain(call, outcome),
  );
}

async function askAgain(call: ModelCall, first: Failed): Promise<ModelResponse> {
  let failed = first;
  let account: RetryState = { ...noFailure, since: call.service.runtime.monotonic() };
  for (;;) {
    account = {
      ...account,
      failures: account.failures + 1,
      counted: account.counted + (failed.counted ? 1 : 0),
      attempts: account.attempts + (failed.sent ? 1 : 0),
      wasted: addUsage(account.wasted, failed.wasted),
    };
    const plan = pauseBefore(call, failed, account);
    tellRetry(call, failed.error, account.failures, plan);
    await pause(call.service.runtime, plan.delayMs, call.signal);
    const outcome = await exchange(call);
    if (outcome.type === 'answered') return responseOf(call, outcome, account);
    failed = outcome;
  }
}

/** How long to wait before the next attempt; throws when there is none. */
function pauseBefore(call: ModelCall, { error, retry }: Failed, account: RetryState): Wait {
  const { runtime } = call.service;
  const plan = planRetry(call.retry, {
    failures: account.failures,
    counted: account.counted,
    elapsedMs: runtime.monotonic() - account.since,
    retryable: retry,
    retryAfterMs: error.retryAfterMs,
    remainingMs: call.deadline - runtime.monotonic(),
    random: retry ? runtime.random() : 0,
  });
  if (plan.type === 'wait' && isPaidFor(call, account.wasted)) return plan;
  // Promise 7: whatever the status, a service that wants us to come back much later limits our rate.
  throw accounted(error, account, plan.type === 'too_long' ? 'rate_limit' : error.kind);
}

function isPaidFor({ mayRetry }: ModelCall, wasted: Usage): boolean {
  try {
    return mayRetry?.(wasted) ?? true;
  } catch {
    return false;
  }
}

function responseOf(
  call: ModelCall,
  { answer, requestId, rateLimits }: AnsweredAttempt,
  account: RetryState,
): ModelResponse {
  return {
    content: answer.text,
    toolCalls: answer.calls,
    usage: answer.usage,
    stopReason: answer.stopReason,
    message: { role: 'assistant', content: answer.parts },
    model: answer.model ?? call.model,
    attempts: account.attempts + 1,
    wasted: account.wasted,
    ...defined({ requestId, rateLimits }),
  };
}

/** The same error with what it cost. One that cost nothing, such as the reason of an early abort, stays itself. */
function accounted(error: AgentError, { attempts, wasted }: RetryState, kind = error.kind): AgentError {
  if (attempts === 0 && isNoUsage(wasted)) return error;
  return new AgentError({ ...error.toJSON(), kind, attempts, wasted });
}

function tellRetry(call: ModelCall, error: AgentError, attempt: number, { delayMs, leftMs }: Wait): void {
  const left = leftMs === undefined ? {} : { leftMs };
  try {
    call.emit?.({ type: 'retry', attempt, error: error.toJSON(), delayMs, ...left });
  } catch {
    // A watcher's failure is the watcher's own.
  }
}

/** Resolves after the delay or when the signal aborts, which the next attempt then finds before it sends anything. */
function pause(runtime: Runtime, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const over = () => {
      takeBack();
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const takeBack = runtime.timer(delayMs, over);
    signal?.addEventListener('abort', over);
  });
}
