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

export const defaultTimeouts: Timeouts = Object.freeze({
  headersMs: 60_000,
  stallMs: 120_000,
  progressMs: 300_000,
  totalMs: 600_000,
});
