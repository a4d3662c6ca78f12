import type { Event, LiveEvent, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type { UnstoredEnd } from '@cobbler/agent/events';
import { liveFrame, plainFrames, plainStatus, storedFrame } from './frame.ts';
import type { ReadLog } from './log-pages.ts';
import { pageLength, turn } from './log-pages.ts';

/** Maximum number of clients to write to before yielding, which takes a few milliseconds. */
const readersAtATime = 128;

/** Number of bytes after which to wait for a client that reads the log. */
const bytesAtATime = 64 * 1024;

/** The destination of frames: the stream of one client. */
export interface Sink {
  /** The token that opened it. */
  readonly tokenId: string;
  readonly closed: boolean;
  write(frame: Uint8Array | string): void;
  /** Resolves when it can accept more data. */
  room(): Promise<void>;
  end(): void;
}

/** The format of a stream's events, and its start position. */
export interface StreamPosition {
  readonly form: 'versioned' | 'plain';
  /** The last event that the client has; all later ones follow. */
  readonly seq: number;
  /** With form `plain`: the number of frames of the next event that the client already has. */
  readonly frames?: number;
  /** True if text is streamed while it arrives. */
  readonly live: boolean;
}

type StreamKind = 'live' | 'stored' | 'plain';

interface StreamReader {
  readonly kind: StreamKind;
  /** The last event it received from the log; an event can be committed before it is published. */
  readonly through: number;
  /** Events published before this one are not sent to it. */
  readonly since: number;
}

/** An event to be written, and the resulting status on the plain stream. */
interface PublishedEvent {
  readonly event: RunEvent;
  readonly status: Buffer | undefined;
  /** Its position among all published events. */
  readonly place: number;
}

/** The frames being written to all clients, and the clients that still need them. */
interface Round {
  readonly shown: readonly PublishedEvent[];
  /** The first stored event among them. */
  readonly first: number;
  readonly bytes: Readonly<Record<StreamKind, () => Buffer>>;
  readonly readers: IterableIterator<readonly [Sink, StreamReader]>;
}

/**
 * Sends the events of one session to all its clients: each frame is created once and the same bytes are written to
 * all. A client first receives missed events from the log and then joins the others at exactly the event where the
 * log ends, so that there is no gap and no repetition. Stored events are written only in log order, without gaps; if
 * that is impossible, the streams end and their clients reconnect for the rest.
 */
export class Broadcast {
  readonly #readLog: ReadLog;
  readonly #soFar: () => readonly LiveEvent[];
  readonly #readers = new Map<Sink, StreamReader>();
  /** Clients that are still reading the log. */
  readonly #arriving = new Set<Sink>();
  /** The last event that all clients have received; undefined before the first client. */
  #lastSeq: number | undefined;
  /** The run of the last published event. */
  #lastRun: string | undefined;
  /** The end of that run if no store contains it. */
  #ending: UnstoredEnd | undefined;
  #shown = 0;
  /** Published events that have not been written yet. */
  readonly #waiting: PublishedEvent[] = [];
  #round: Round | undefined;
  #isScheduled = false;
  /** The state of the session, for the stream of the session `default`. */
  #status: Buffer | undefined;

  /** @param soFar returns the partial current response, up to the last published event. */
  constructor(readLog: ReadLog, soFar: () => readonly LiveEvent[] = () => []) {
    this.#readLog = readLog;
    this.#soFar = soFar;
  }

  /** Number of clients, including those that are still reading the log. */
  get size(): number {
    return this.#readers.size + this.#arriving.size;
  }

  /** Publishes an event to all clients. A stored event must already be committed and follow the last published one. */
  publish(event: RunEvent): void {
    if (isStored(event)) {
      // Its clients cannot learn which events are missing, or that the log was replaced.
      if (!this.follows(event)) this.end();
      this.#lastSeq = event.seq;
      this.#lastRun = event.runId;
      this.#ending = undefined;
    } else if (event.type === 'finished' && event.runId === this.#lastRun) {
      this.#ending = event;
    }
    const status = plainStatus(event);
    this.#status = status ?? this.#status;
    if (this.#readers.size === 0 || event.type === 'started') return;
    // Events that arrive together are written together: a write to each of many clients costs more than its bytes.
    this.#waiting.push({ event, status, place: ++this.#shown });
    this.#schedule();
  }

  /** The last event that all clients have received, once that is known. */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  /** True if a stored event is the next one of the log. */
  follows({ seq }: Event): boolean {
    return this.#lastSeq === undefined || seq === this.#lastSeq + 1;
  }

  /** Sets the position in the log, if nothing was published yet. */
  begin(seq: number): void {
    this.#lastSeq ??= seq;
  }

  /**
   * Returns the events in the log that were not published because another process wrote them: those after the last
   * published one, at most one page. It returns none if nothing was published and no client is connected.
   */
  async readMissed(): Promise<readonly Event[]> {
    const before = this.#lastSeq;
    if (before === undefined) return [];
    const events = await this.#readLog(before, pageLength);
    return this.#lastSeq === before ? events : [];
  }

  /** Sends a client the events that it missed, and all later ones as they occur. Resolves when the client has caught up. */
  async join(stream: Sink, place: StreamPosition): Promise<void> {
    this.#arriving.add(stream);
    try {
      let seq = place.seq;
      let skip = place.frames ?? 0;
      /** The last event sent that ended a response. */
      let ended = 0;
      for (;;) {
        const lastSeq = this.#lastSeq ?? 0;
        const page = await this.#readLog(seq, pageLength);
        await sendPage(stream, place, page, skip);
        if (stream.closed) return;
        if (page.length > 0) skip = 0;
        seq = page.at(-1)?.seq ?? seq;
        ended = page.findLast(({ type }) => endsResponse.has(type))?.seq ?? ended;
        // Events published since are in the log; if a published event is missing there, the log was replaced.
        if (page.length < pageLength && (this.#lastSeq ?? 0) <= Math.max(seq, lastSeq)) break;
        await turn();
      }
      this.#advance(seq);
      if (place.form === 'plain' && this.#status !== undefined) stream.write(this.#status);
      if (place.form !== 'plain' && this.#ending !== undefined) stream.write(liveFrame(this.#ending));
      const kind = place.form === 'plain' ? 'plain' : place.live ? 'live' : 'stored';
      // A response whose end was already sent, but not yet published, is not current.
      if (kind === 'live' && ended <= (this.#lastSeq ?? 0)) tellSoFar(stream, this.#soFar());
      this.#readers.set(stream, { kind, through: seq, since: this.#shown });
    } finally {
      this.#arriving.delete(stream);
    }
  }

  leave(stream: Sink): void {
    this.#readers.delete(stream);
  }

  /** Ends the streams of all tokens but those that may still read it, or all streams. */
  end(mayRead?: (tokenId: string) => boolean): void {
    while (this.#next()) this.#writeRound(Infinity);
    for (const stream of this.#arriving) if (mayRead?.(stream.tokenId) === false) stream.end();
    for (const stream of this.#readers.keys()) {
      if (mayRead?.(stream.tokenId) === true) continue;
      stream.end();
      this.#readers.delete(stream);
    }
  }

  /** Records that a client has reached the end of the log. */
  #advance(seq: number): void {
    // The log is shorter than before: the session was deleted and started again, and all other clients read the
    // deleted one.
    if (this.#lastSeq !== undefined && seq < this.#lastSeq) {
      this.end();
      this.#lastSeq = seq;
    }
    this.#lastSeq ??= seq;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#next()) return;
      this.#writeRound(readersAtATime);
      // Yield so that requests are handled in between, however many clients are watching.
      if (this.#round !== undefined || this.#waiting.length > 0) this.#schedule();
    });
  }

  /** Prepares the next frames; true if there are any. Later events are written once all clients have the earlier ones. */
  #next(): boolean {
    if (this.#round !== undefined) return true;
    const shown = this.#waiting.splice(0);
    if (shown.length === 0) return false;
    const stored = shown.flatMap(({ event }) => (isStored(event) ? [event.seq] : []));
    this.#round = {
      shown,
      first: stored[0] ?? Infinity,
      bytes: {
        live: lazily(() => bytesOf(shown, 'live')),
        stored: lazily(() => bytesOf(shown, 'stored')),
        plain: lazily(() => bytesOf(shown, 'plain')),
      },
      readers: this.#readers.entries(),
    };
    return true;
  }

  /** Writes the current frames to the next clients. */
  #writeRound(limit: number): void {
    const round = this.#round;
    if (round === undefined) return;
    for (let count = 0; count < limit; count += 1) {
      const { value, done } = round.readers.next();
      if (done === true) {
        this.#round = undefined;
        return;
      }
      const [stream, reader] = value;
      const bytes = bytesFor(reader, round);
      if (bytes.length > 0) stream.write(bytes);
    }
  }
}

/** Returns the frames for a client: all of them, unless it joined in the middle. */
function bytesFor({ kind, through, since }: StreamReader, { shown, first, bytes }: Round): Buffer {
  if (through < first && since < (shown[0]?.place ?? 0)) return bytes[kind]();
  const isNew = ({ event, place }: PublishedEvent) =>
    place > since && (!isStored(event) || event.seq > through);
  return bytesOf(shown.filter(isNew), kind);
}

const endsResponse: ReadonlySet<Event['type']> = new Set(['assistant', 'ask_failed', 'finished']);

function tellSoFar(stream: Sink, events: readonly LiveEvent[]): void {
  if (events.length > 0) stream.write(liveFrame({ type: 'so_far', events }));
}

/** Sends a client a page of the log, no faster than it reads it. */
async function sendPage(
  stream: Sink,
  place: StreamPosition,
  page: readonly Event[],
  skip: number,
): Promise<void> {
  let frames: Buffer[] = [];
  let bytes = 0;
  for (const [index, event] of page.entries()) {
    for (const frame of place.form === 'versioned'
      ? [storedFrame(event)]
      : plainFrames(event, index === 0 ? skip : 0)) {
      frames.push(frame);
      bytes += frame.length;
    }
    if (bytes < bytesAtATime && index < page.length - 1) continue;
    if (stream.closed) return;
    if (bytes > 0) stream.write(Buffer.concat(frames));
    frames = [];
    bytes = 0;
    await stream.room();
  }
}

/** Returns the concatenated frames of one kind. */
function bytesOf(shown: readonly PublishedEvent[], kind: StreamKind): Buffer {
  const frames = shown.flatMap(({ event, status }) => {
    if (kind === 'plain')
      return [...(isStored(event) ? plainFrames(event) : []), ...(status === undefined ? [] : [status])];
    if (isStored(event)) return [storedFrame(event)];
    // An end that no store contains is also sent to clients without streamed text.
    return kind === 'live' || event.type === 'finished' ? [liveFrame(event)] : [];
  });
  return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
}

/** Creates a value when it is first requested. */
function lazily<Value>(make: () => Value): () => Value {
  let cached: Value | undefined;
  return () => {
    cached ??= make();
    return cached;
  };
}
