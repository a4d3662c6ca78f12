import { defined } from '@cobbler/agent/values';
import { mayAccess } from '../auth/access.ts';
import type { TokenStore } from '../auth/token-store.ts';
import type { RouteRequest } from '../http/route.ts';
import type { ServerLimits } from '../requests/limits.ts';
import { Problem } from '../requests/problem.ts';
import type { StreamPosition } from '../sessions/broadcast.ts';
import { liveText } from '../sessions/frame.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { Meters } from '../telemetry/meters.ts';
import type { StreamBounds } from './event-stream.ts';
import { EventStream } from './event-stream.ts';

/** Reconnect delay that clients receive, in milliseconds. */
const retryMs = 1000;

/** Interval at which streams are checked, in milliseconds: the maximum time that a stream outlives its token. */
const checkMs = 500;

/** A client's position in the events. */
export interface Position {
  readonly seq: number;
  readonly frames: number;
}

/** The state of the log that a stream needs before it starts. */
export interface LogFacts {
  /** True if it has the event that the client names. */
  readonly known: boolean;
  readonly events: number;
}

/** All event streams of a server: counts them and keeps them alive. */
export class Streams {
  readonly #limits: ServerLimits;
  readonly #bounds: StreamBounds;
  readonly #tokens: Pick<TokenStore, 'list' | 'now'>;
  readonly #byForm = {
    versioned: new Set<EventStream>(),
    plain: new Set<EventStream>(),
    front: new Set<EventStream>(),
  };
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(limits: ServerLimits, meters: Meters, tokens: Pick<TokenStore, 'list' | 'now'>) {
    this.#limits = limits;
    this.#tokens = tokens;
    this.#bounds = {
      bufferBytes: limits.bufferBytes,
      stallMs: limits.stallMs,
      onDrop: () =>
        meters.count(
          'cobbler_sse_dropped_total',
          'Clients that were disconnected because they read too slowly.',
        ),
    };
    this.#timers = [
      setInterval(() => {
        this.#beat('versioned');
        this.#beat('front');
      }, limits.heartbeatMs).unref(),
      setInterval(() => this.#beat('plain'), limits.plainHeartbeatMs).unref(),
      setInterval(() => this.endInvalid(), checkMs).unref(),
    ];
    meters.gauge('cobbler_sse_clients', 'Event streams.', () => this.size);
  }

  get size(): number {
    return Object.values(this.#byForm).reduce((size, streams) => size + streams.size, 0);
  }

  /**
   * Opens a stream on the response of a request and sends the session's events to it.
   * @throws Problem 503 if there are too many.
   */
  async open(
    call: RouteRequest,
    session: LiveSession,
    place: StreamPosition,
    { known, events }: LogFacts,
  ): Promise<void> {
    this.mayOpen();
    const streams = this.#byForm[place.form];
    const { broadcast } = session;
    const { token } = call;
    const start = {
      token,
      headers: { 'x-request-id': call.requestId },
      text: `retry: ${retryMs}\n${this.#firstFrames(session, place, { known, events })}`,
      mayRead: () => mayAccess(token, session),
    };
    const stream = new EventStream(call.request, call.response, start, this.#bounds, (closed) => {
      streams.delete(closed);
      broadcast.leave(closed);
    });
    // A client that has already left does not report it again.
    if (stream.closed) return;
    streams.add(stream);
    await broadcast.join(stream, known ? place : { ...place, seq: 0, frames: 0 });
  }

  /** @throws Problem 503 if there are too many. */
  mayOpen(): void {
    if (this.size < this.#limits.clients) return;
    const headers = { 'retry-after': '10' };
    throw new Problem(
      503,
      'too_many_clients',
      'Too many event streams are open. Close one, or try again later.',
      { headers },
    );
  }

  /** Opens a stream of another protocol, which the caller writes. `last` returns the frames that end it. */
  openFront(
    call: RouteRequest<unknown, unknown>,
    session: LiveSession,
    headers: Readonly<Record<string, string>>,
    last?: () => string,
  ): EventStream {
    const start = {
      token: call.token,
      headers: { ...headers, 'x-request-id': call.requestId },
      text: ': \n\n',
      mayRead: () => mayAccess(call.token, session),
      ...defined({ last }),
    };
    const streams = this.#byForm.front;
    const stream = new EventStream(call.request, call.response, start, this.#bounds, (closed) => {
      streams.delete(closed);
    });
    if (!stream.closed) streams.add(stream);
    return stream;
  }

  /** Ends the streams whose token or cookie is no longer valid, and those that their user may no longer read. */
  endInvalid(): void {
    const ids = new Set(this.#tokens.list().map(({ id }) => id));
    const now = this.#tokens.now();
    for (const streams of Object.values(this.#byForm)) for (const stream of streams) stream.check(ids, now);
  }

  /** Ends all streams and stops the timers. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const streams of Object.values(this.#byForm)) for (const stream of streams) stream.end();
  }

  /** Returns the first frames of a stream, before those of the log. */
  #firstFrames(session: LiveSession, place: StreamPosition, { known, events }: LogFacts): string {
    if (place.form === 'plain') return '\n';
    const hello = liveText(this.#hello(session, place, events));
    return known ? hello : hello + liveText({ type: 'reset' });
  }

  #hello({ id, run }: LiveSession, { seq }: StreamPosition, events: number): Record<string, unknown> {
    const { heartbeatMs } = this.#limits;
    return { type: 'hello', v: 1, sessionId: id, heartbeatMs, after: seq, events, runId: run?.id ?? null };
  }

  #beat(form: StreamPosition['form'] | 'front'): void {
    for (const stream of this.#byForm[form]) stream.beat();
  }
}

/**
 * Parses a client's position: `12` after event 12, `12.1` after the second frame of event 12.
 * @throws Problem 400 for anything else.
 */
export function positionOf(text: string): Position {
  const match = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null)
    throw new Problem(400, 'bad_position', 'Last-Event-ID is not the id of an event in this stream.');
  const seq = Number(match[1]);
  return match[2] === undefined ? { seq, frames: 0 } : { seq: seq - 1, frames: Number(match[2]) + 1 };
}
