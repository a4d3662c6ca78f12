import type { Reader } from '@cobbler/agent/input';
import { record, when } from '@cobbler/agent/input';

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

const between = (least: number, most: number): Reader<number> =>
  when(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    `a whole number from ${least} to ${most}`,
  );

const number = between(1, Number.MAX_SAFE_INTEGER);

/** The maximum of a timer, in milliseconds. A longer one would fire at once. */
const maxMs = 2 ** 31 - 1;
const ms = between(1, maxMs);
const msOrNone = between(0, maxMs);

/** Reads limits. */
export const readLimits: Reader<Partial<ServerLimits>> = record<Partial<ServerLimits>>({
  sessions: number,
  clients: number,
  connections: number,
  bufferBytes: number,
  stallMs: ms,
  bodyBytes: number,
  headersMs: ms,
  requestMs: ms,
  drainMs: msOrNone,
  heartbeatMs: ms,
  plainHeartbeatMs: ms,
  othersMs: ms,
  readyMs: msOrNone,
  probeMs: ms,
});
