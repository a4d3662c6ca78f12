import type { Event, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { liveFrame, seedFrames, seedStatus, storedFrame } from './frame.ts';

/** Reads what a session holds after a sequence number. */
export type ReadLog = (afterSeq: number) => readonly Event[] | Promise<readonly Event[]>;

/** Where frames go: one reader's end of a stream. */
export interface Sink {
  /** Whose token opened it. */
  readonly tokenId: string;
  readonly closed: boolean;
  write(frame: Uint8Array): void;
  /** Resolves when there is room for more. */
  room(): Promise<void>;
  onClose(listener: () => void): void;
  end(): void;
}

/** How a stream tells events, and where its reader wants to begin. */
export interface Place {
  readonly form: 'versioned' | 'seed';
  /** The last event the reader has; everything after it follows. */
  readonly seq: number;
  /** With form `seed`: how many frames of the event after that it has. */
  readonly frames?: number;
  /** Whether text is shown while it comes. */
  readonly live: boolean;
}

interface Reader {
  readonly stream: Sink;
  readonly place: Place;
  /** The last event it was told from the log: one that was committed may be shown only now. */
  readonly through: number;
}

/** An event that is to be written, and the status that it leads to on the seed's stream. */
interface Shown {
  readonly event: RunEvent;
  readonly status: Buffer | undefined;
}

/**
 * The events of one session to all who watch it: each frame is made once and written to everybody as it is.
 * A reader is told what it missed from the log first and joins the others at the very event where that ends,
 * so that there is neither a gap nor a repetition.
 */
export class Broadcast {
  readonly #readLog: ReadLog;
  readonly #readers = new Set<Reader>();
  #arriving = 0;
  #lastSeq = 0;
  /** What was shown and is not written yet. */
  readonly #waiting: Shown[] = [];
  /** What the session is doing, as the seed's stream says it. */
  #status: Buffer | undefined;

  constructor(readLog: ReadLog) {
    this.#readLog = readLog;
  }

  /** Readers, those included that are being told what they missed. */
  get size(): number {
    return this.#readers.size + this.#arriving;
  }

  /** Shows an event to all readers. A stored one is committed already. */
  publish(event: RunEvent): void {
    if (isStored(event)) this.#lastSeq = event.seq;
    const status = seedStatus(event);
    this.#status = status ?? this.#status;
    if (this.#readers.size === 0 || event.type === 'started') return;
    this.#waiting.push({ event, status });
    // What comes in one go is written in one go: a write to each of many readers costs more than its bytes.
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const shown = this.#waiting.splice(0);
    if (shown.length === 0) return;
    const firstSeq = shown.find(({ event }) => isStored(event))?.event;
    const first = firstSeq !== undefined && isStored(firstSeq) ? firstSeq.seq : Number.POSITIVE_INFINITY;
    const bytes = {
      live: lazily(() => bytesOf(shown, 'versioned', true)),
      stored: lazily(() => bytesOf(shown, 'versioned', false)),
      seed: lazily(() => bytesOf(shown, 'seed', false)),
    };
    for (const { stream, place, through } of this.#readers) {
      const kind = place.form === 'seed' ? 'seed' : place.live ? 'live' : 'stored';
      const isNew = ({ event }: Shown) => !isStored(event) || event.seq > through;
      const all = through < first;
      const text = all ? bytes[kind]() : bytesOf(shown.filter(isNew), place.form, place.live);
      if (text.length > 0) stream.write(text);
    }
  }

  /** Tells a reader what it missed and keeps it informed from then on. Resolves when it has caught up. */
  async join(stream: Sink, place: Place): Promise<void> {
    this.#arriving += 1;
    try {
      let seq = place.seq;
      let skip = place.frames ?? 0;
      for (;;) {
        for (const event of await this.#readLog(seq)) {
          if (stream.closed) return;
          for (const frame of framesOf(event, place, skip)) stream.write(frame);
          skip = 0;
          seq = event.seq;
          await stream.room();
        }
        if (stream.closed) return;
        if (seq >= this.#lastSeq) break;
      }
      if (place.form === 'seed' && this.#status !== undefined) stream.write(this.#status);
      this.#flush();
      const reader = { stream, place, through: seq };
      this.#readers.add(reader);
      stream.onClose(() => this.#readers.delete(reader));
    } finally {
      this.#arriving -= 1;
    }
  }

  /** Ends the streams of a token that is no longer valid, or all of them. */
  end(tokenId?: string): void {
    this.#flush();
    for (const { stream } of this.#readers) {
      if (tokenId === undefined || stream.tokenId === tokenId) stream.end();
    }
  }
}

function framesOf(event: Event, { form }: Place, skip: number): Buffer[] {
  return form === 'versioned' ? [storedFrame(event)] : seedFrames(event, skip);
}

function seedFramesOf(event: RunEvent, status: Buffer | undefined): Buffer[] {
  return [...(isStored(event) ? seedFrames(event) : []), ...(status === undefined ? [] : [status])];
}

/** All frames of one form, one after another. */
function bytesOf(shown: readonly Shown[], form: Place['form'], live: boolean): Buffer {
  const frames = shown.flatMap(({ event, status }) => {
    if (form === 'seed') return seedFramesOf(event, status);
    if (isStored(event)) return [storedFrame(event)];
    return live ? [liveFrame(event)] : [];
  });
  return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
}

/** Makes a value when it is first asked for. */
function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
