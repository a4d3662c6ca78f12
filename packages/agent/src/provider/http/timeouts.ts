import { AgentError } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { amount, read, record } from '../../values/input.ts';

/** Timeouts of one model call, in milliseconds. */
export interface Timeouts {
  /** Maximum time from the request to the response head. Custom base URLs get more, because local models load slowly. */
  readonly headersMs: number;
  /** Maximum time without a single byte. */
  readonly stallMs: number;
  /** Maximum time without progress; not applied while the model reasons. */
  readonly progressMs: number;
  /** Maximum time of the whole call, including retries and delays. */
  readonly totalMs: number;
}

/** Default timeouts of a provider, in milliseconds. */
export const defaultTimeouts: Timeouts = Object.freeze({
  headersMs: 60_000,
  stallMs: 120_000,
  progressMs: 300_000,
  totalMs: 600_000,
});

/**
 * Returns the timeouts, with the default for each one that is not given.
 * @throws AgentError `invalid` for a value that is not a number. `Infinity` is allowed.
 */
export function timeoutsOf(given: Partial<Timeouts> = {}): Timeouts {
  return { ...defaultTimeouts, ...read(given, readTimeouts, 'timeouts') };
}

/** Reads timeouts. */
export const readTimeouts: Reader<Partial<Timeouts>> = record<Partial<Timeouts>>({
  headersMs: amount,
  stallMs: amount,
  progressMs: amount,
  totalMs: amount,
});

const lateMessages = {
  head: 'No response started within',
  stall: 'The response stalled: no data arrived for',
  progress: 'The response made no progress: only keep-alive data arrived for',
  total: 'The model call did not finish within',
} as const;

/** Creates the error for a timeout. */
export function lateError(name: keyof typeof lateMessages, timeouts: Timeouts, provider: string): AgentError {
  const { headersMs, stallMs, progressMs, totalMs } = timeouts;
  const allowed = { head: headersMs, stall: stallMs, progress: progressMs, total: totalMs }[name];
  return new AgentError({
    kind: 'timeout',
    code: name,
    message: `${lateMessages[name]} ${allowed / 1000} s.`,
    provider,
    retryable: true,
  });
}
