import { AgentError } from '../../values/errors.ts';
import { withDefaults } from '../../values/with-defaults.ts';

/** Deadlines of one model call, in milliseconds. */
export interface Timeouts {
  /** From the request to the head of the answer. Local models load slowly: a custom address gets more. */
  readonly headersMs: number;
  /** Without a single byte. */
  readonly stallMs: number;
  /** Without an event that means something; does not count while the model reasons. */
  readonly progressMs: number;
  /** The whole call, retries and pauses included. */
  readonly totalMs: number;
}

/** The deadlines of a provider that sets none, in milliseconds. */
export const defaultTimeouts: Timeouts = Object.freeze({
  headersMs: 60_000,
  stallMs: 120_000,
  progressMs: 300_000,
  totalMs: 600_000,
});

/**
 * The deadlines with those that are given in their places.
 * @throws AgentError `invalid` for one that is no number, which would never pass. `Infinity` is one.
 */
export function timeoutsOf(given: Partial<Timeouts> = {}): Timeouts {
  return withDefaults('timeouts', defaultTimeouts, given);
}

const lateMessages = {
  head: 'No answer began within',
  stall: 'The answer stalled: no byte came for',
  progress: 'The answer made no progress: nothing but signs of life came for',
  total: 'The model call was not finished within',
} as const;

/** The error of a deadline that has passed. */
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
