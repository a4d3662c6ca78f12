/** How much a server takes on, and how long it waits. All can be set; none is infinite. */
export interface ServerLimits {
  /** Sessions held in memory at a time: those that run or are watched, and those used last. */
  readonly sessions: number;
  /** Streams of events at a time. */
  readonly clients: number;
  /** Connections at a time, streams included. */
  readonly connections: number;
  /** Bytes that may wait for one reader of events; then it is dropped. */
  readonly bufferBytes: number;
  /** How long a reader may take nothing at all while it is told what it missed. */
  readonly stallMs: number;
  readonly bodyBytes: number;
  /** How long the headers of a request may take. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive. */
  readonly requestMs: number;
  /** How long runs may go on after the server was told to stop; then they are cancelled. */
  readonly drainMs: number;
  /** Between two signs of life on the versioned stream. */
  readonly heartbeatMs: number;
  /** The same on the stream of `GET /events`. */
  readonly seedHeartbeatMs: number;
  /** How often sessions that are watched are looked at for what other processes wrote into them. */
  readonly othersMs: number;
  /** For how long the answer of `GET /readyz` is used again. */
  readonly readyMs: number;
  /** How long the store may take to answer `GET /readyz`. */
  readonly probeMs: number;
}

/** What a server holds itself to unless it is told otherwise. */
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
  seedHeartbeatMs: 30_000,
  othersMs: 1_000,
  readyMs: 2_000,
  probeMs: 5_000,
});
