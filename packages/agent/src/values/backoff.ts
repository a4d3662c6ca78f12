import { withArgumentErrors } from './errors.ts';

/** The first and the maximum delay, in milliseconds. */
export interface BackoffPolicy {
  readonly baseMs: number;
  /** Maximum delay. Default: no maximum. */
  readonly maxMs?: number;
}

/**
 * Returns the delay before retry number `retry` (the first is 0), in milliseconds: it doubles from `baseMs` up to
 * `maxMs`. With `random`, a number from 0 up to but not including 1, half of the delay is fixed, so it is never 0, and
 * half is random, so that many clients do not retry at the same time.
 */
export function backoff(given: BackoffPolicy, retry: number, random = 1): number {
  return withArgumentErrors('backoff', () => {
    const { baseMs, maxMs = Number.POSITIVE_INFINITY } = given;
    const half = Math.min(baseMs * 2 ** retry, maxMs) / 2;
    return half + random * half;
  });
}
