import { backoff } from '../values/backoff.ts';
import type { Reader } from '../values/input.ts';
import { amount, read, record } from '../values/input.ts';

/** The number and delays of retries of a failed model request. */
export interface RetryPolicy {
  /**
   * Maximum number of retries after a response started and was cut off, because each attempt may be billed. Every other
   * failure is retried this many times, and longer if `forMs` allows. Default 3, or 0 if `forMs` is 0.
   */
  readonly retries: number;
  /**
   * Maximum time to retry while a service is overloaded or unreachable, in milliseconds from the first failure. Default
   * 300,000, or 0 if `retries` is given without it.
   */
  readonly forMs: number;
  /** Maximum delay before the first retry, in milliseconds; it doubles with each retry. */
  readonly baseMs: number;
  /** Maximum delay, in milliseconds, unless the service asks for a longer one. */
  readonly maxMs: number;
  /** Maximum delay that a service may ask for, in milliseconds; if it asks for more, the request fails. */
  readonly maxWaitMs: number;
}

/** Retries for five minutes, with delays of at most 30 seconds; at most three retries after a response has started. */
export const defaultRetry: RetryPolicy = Object.freeze({
  retries: 3,
  forMs: 300_000,
  baseMs: 500,
  maxMs: 30_000,
  maxWaitMs: 60_000,
});

/** Reads settings of retries. */
export const readRetry: Reader<Partial<RetryPolicy>> = record<Partial<RetryPolicy>>({
  retries: amount,
  forMs: amount,
  baseMs: amount,
  maxMs: amount,
  maxWaitMs: amount,
});

/**
 * Returns the policy with defaults filled in.
 * @throws AgentError `invalid` for a value that is not a number: NaN retries would never be used up.
 */
export function retryPolicyOf(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const forMs = given.retries === undefined ? defaultRetry.forMs : 0;
  const retries = given.forMs === 0 ? 0 : defaultRetry.retries;
  return { ...defaultRetry, retries, forMs, ...read(given, readRetry, 'retry') };
}

/** The data about a failed request. */
export interface RequestFailure {
  /** Number of failed requests so far, including this one. */
  readonly failures: number;
  /** Number of failures that count toward `retries`, such as responses that were cut off. */
  readonly counted: number;
  /** Time since the first failure, in milliseconds. */
  readonly elapsedMs: number;
  readonly retryable: boolean;
  /** The delay that the service asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Time left for the whole call, in milliseconds. */
  readonly remainingMs: number;
  /** Random number from 0 up to but not including 1. */
  readonly random: number;
}

/** The next step after a failure. `too_long`: a retry could succeed, but the service asks for too long a delay. */
export type RetryPlan =
  | {
      readonly type: 'wait';
      readonly delayMs: number;
      /** Remaining time for retries after the delay, in milliseconds; undefined if only their number is limited. */
      readonly leftMs?: number;
    }
  | { readonly type: 'stop' }
  | { readonly type: 'too_long' };

/** Decides whether and when a failed request is retried. */
export function planRetry(policy: RetryPolicy, failed: RequestFailure): RetryPlan {
  if (!failed.retryable) return { type: 'stop' };
  const asked = failed.retryAfterMs;
  if (asked !== undefined && asked > Math.min(policy.maxWaitMs, failed.remainingMs))
    return { type: 'too_long' };
  if (failed.counted > policy.retries) return { type: 'stop' };
  const delayMs = asked ?? backoff(policy, failed.failures - 1, failed.random);
  if (delayMs >= failed.remainingMs) return { type: 'stop' };
  const leftMs = policy.forMs - failed.elapsedMs - delayMs;
  if (leftMs >= 0) return { type: 'wait', delayMs, leftMs: Math.min(leftMs, failed.remainingMs - delayMs) };
  return failed.failures > policy.retries ? { type: 'stop' } : { type: 'wait', delayMs };
}
