import type { RetryPolicy } from '../values/backoff.ts';
import { defaultRetry } from '../values/backoff.ts';
import type { Reader } from '../values/input.ts';
import { amount, read, record } from '../values/input.ts';

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
  return { ...defaultRetry, forMs, ...read(given, readRetry, 'retry') };
}
