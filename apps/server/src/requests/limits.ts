/** Limits and timeouts of a server. All are configurable; none is infinite. */
export interface ServerLimits {
  /** Maximum number of sessions in memory: those that run or are watched, and those used last. */
  readonly sessions: number;
  /** Maximum number of event streams. */
  readonly clients: number;
  /** Maximum number of connections, streams included. */
  readonly connections: number;
  /** Maximum number of bytes buffered for one client; a client that exceeds it is disconnected. */
  readonly bufferBytes: number;
  /** Time limit without progress for a client that reads stored events, in milliseconds. */
  readonly stallMs: number;
  readonly bodyBytes: number;
  /** Time limit for the headers of a request, in milliseconds. */
  readonly headersMs: number;
  /** Time limit for a complete request, in milliseconds. */
  readonly requestMs: number;
  /** Time that runs may continue after a shutdown signal before they are cancelled, in milliseconds. */
  readonly drainMs: number;
  /** Interval between heartbeats on the versioned stream, in milliseconds. */
  readonly heartbeatMs: number;
  /** Interval between heartbeats on the stream of `GET /events`, in milliseconds. */
  readonly plainHeartbeatMs: number;
  /** Interval at which watched sessions are checked for events of other processes, in milliseconds. */
  readonly othersMs: number;
  /** Time for which a result of `GET /readyz` is reused, in milliseconds. */
  readonly readyMs: number;
  /** Time limit for the store to respond to `GET /readyz`, in milliseconds. */
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
