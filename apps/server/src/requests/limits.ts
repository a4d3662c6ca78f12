/** Limits and timeouts of a server. All are configurable; none is infinite. */
export interface ServerLimits {
  /** Sessions held in memory at a time: those that run or are watched, and those used last. */
  readonly sessions: number;
  /** Streams of events at a time. */
  readonly clients: number;
  /** Connections at a time, streams included. */
  readonly connections: number;
  /** Bytes that may wait for one reader of events; then it is dropped. */
  readonly bufferBytes: number;
  /** Time limit without progress for a client that reads stored events. */
  readonly stallMs: number;
  readonly bodyBytes: number;
  /** Time limit for the headers of a request. */
  readonly headersMs: number;
  /** Time limit for a whole request. */
  readonly requestMs: number;
  /** Time that runs may continue after a shutdown signal; then they are cancelled. */
  readonly drainMs: number;
  /** Between two signs of life on the versioned stream. */
  readonly heartbeatMs: number;
  /** The same on the stream of `GET /events`. */
  readonly plainHeartbeatMs: number;
  /** Interval at which watched sessions are checked for events of other processes. */
  readonly othersMs: number;
  /** For how long the answer of `GET /readyz` is used again. */
  readonly readyMs: number;
  /** Time limit for the store to respond to `GET /readyz`. */
  readonly probeMs: number;
}

/** Default limits of a server. */
export const defaultLimits: ServerLimits = Object.freeze({
  sessions: 1_000,
  clients: 5_000,
  connections: 10_000,
  bufferBytes: 4 * 1024 * 1024,
  stallMs: 60_000,
  bodyBytes: 1024 * 1024,
  headersMs: 10_000,
  requestMs: 20_000,
  drainMs: 30_000,
  heartbeatMs: 15_000,
  plainHeartbeatMs: 30_000,
  othersMs: 1_000,
  readyMs: 2_000,
  probeMs: 5_000,
});
