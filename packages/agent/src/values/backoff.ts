import { withDefaults } from './with-defaults.ts';

/** How often and after which pauses a failed model request is made again. */
export interface RetryPolicy {
  /**
   * Maximum number of requests after an answer began and broke off, because each of them may be charged. Every other
   * failure is tried again this often, and longer for as long as `forMs` allows. Default 3.
   */
  readonly retries: number;
  /**
   * For how long a service that is overloaded or cannot be reached is asked again, in milliseconds from the first
   * failure. Default 300,000, or 0 where `retries` is given without it.
   */
  readonly forMs: number;
  /** The pause before the first retry is at most this long, in milliseconds; it doubles from then on. */
  readonly baseMs: number;
  /** No pause of our own choosing is longer, in milliseconds. */
  readonly maxMs: number;
  /** A service that asks for a longer pause than this, in milliseconds, is not waited for. */
  readonly maxWaitMs: number;
}

/** Five minutes, with pauses of at most 30 seconds; three more attempts once an answer has begun. */
export const defaultRetry: RetryPolicy = Object.freeze({
  retries: 3,
  forMs: 300_000,
  baseMs: 500,
  maxMs: 30_000,
  maxWaitMs: 60_000,
});

/**
 * The policy with what is given of it in its place.
 * @throws AgentError `invalid` for what is no number: retries that are none would never be used up.
 */
export function retryPolicyOf(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const forMs = given.retries === undefined ? defaultRetry.forMs : 0;
  return withDefaults('retry', { ...defaultRetry, forMs }, given);
}

/** The first pause and the longest one, in milliseconds. */
export interface BackoffPolicy {
  readonly baseMs: number;
  /** Default: no maximum. */
  readonly maxMs?: number;
}

/**
 * Returns the pause before retry number `retry` (the first is 0), in milliseconds: it doubles from `baseMs` up to
 * `maxMs`. With `random`, a number from 0 up to but not including 1, half of it is fixed, so it is never 0, and half is
 * random, so that many clients do not come back together.
 */
export function backoff(
  { baseMs, maxMs = Number.POSITIVE_INFINITY }: BackoffPolicy,
  retry: number,
  random = 1,
): number {
  const half = Math.min(baseMs * 2 ** retry, maxMs) / 2;
  return half + random * half;
}

/** What is known when a request has failed. */
export interface RequestFailure {
  /** Requests that failed so far, this one included. */
  readonly failures: number;
  /** Those of them that the number of retries bounds, such as answers that broke off. */
  readonly counted: number;
  /** Since the first failure, in milliseconds. */
  readonly elapsedMs: number;
  readonly retryable: boolean;
  /** How long the service asks us to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Time left for the whole call, in milliseconds. */
  readonly remainingMs: number;
  /** A number from 0 up to but not including 1. */
  readonly random: number;
}

/** `too_long`: trying again would help, but not before the service's own pause is over. */
export type RetryPlan =
  | {
      readonly type: 'wait';
      readonly delayMs: number;
      /** How much longer requests are made after the pause, in milliseconds; absent where only their number counts. */
      readonly leftMs?: number;
    }
  | { readonly type: 'stop' }
  | { readonly type: 'too_long' };

/** Decides whether a failed request is made again, and when. */
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
