import type { Event, LiveEvent, RunEvent, UnstoredEnd } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { AnswerSoFar } from './response-so-far.ts';

/** Most live events that wait for one reader; beyond that it loses live events, never stored ones. */
const maxLiveWaiting = 10_000;

/** How many events a reader may have taken before the room they stood in is given back. */
const maxTaken = 1_000;

/**
 * Hands the events of one run to any number of readers. A reader never drives or holds up the run: it gets
 * `started`, the stored events from the run's beginning and the answer so far, then everything as it comes, at its own
 * speed.
 */
export class Feed {
  /** The answer that is being given, for those who come in the middle of it. */
  readonly soFar: AnswerSoFar = new AnswerSoFar();
  readonly #past: RunEvent[] = [];
  readonly #readers = new Set<Reader>();
  /** Replaced and never changed: an event is shown to those who listened when it came. */
  #listeners: readonly Listener[] = [];
  #quiet = false;
  #ended = false;

  /** Shows the first event, which every later reader gets too, though it is not stored. */
  start(event: Extract<LiveEvent, { type: 'started' }>): void {
    this.#past.push(event);
    this.#show(event);
  }

  /** Shows a stored event, or the end that no store has, to all readers, later ones included. */
  publish(event: Event | UnstoredEnd): void {
    this.#past.push(event);
    this.#show(event);
  }

  /** Shows an event to those who watch now. A function of its own, because it is called for every delta. */
  readonly live = (event: LiveEvent): void => {
    if (!this.#quiet) this.#show(event);
  };

  /** The end is being written: from here on only what is stored is shown. */
  hush(): void {
    this.#quiet = true;
  }

  /** No event follows. Readers end once they have taken what waits for them. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
    this.#listeners = [];
  }

  /** Calls the listener for each later event, synchronously. Returns a function that stops it. */
  listen(listener: (event: RunEvent) => void): () => void {
    if (this.#ended) return () => undefined;
    // One of its own for each call, so that a function given twice is called twice and each is stopped alone.
    const own: Listener = { hear: listener, hasStopped: false };
    this.#listeners = [...this.#listeners, own];
    return () => {
      own.hasStopped = true;
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  /** A reader that begins with the events so far. It subscribes at once, not at its first `next`. */
  read(): AsyncIterableIterator<RunEvent> {
    const reader = new Reader(
      [...this.#past, ...this.soFar.events],
      (gone) => void this.#readers.delete(gone),
    );
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  #show(event: RunEvent): void {
    this.soFar.hear(event);
    // First those who read: a reader that a listener makes begins with this event already.
    if (this.#readers.size > 0) for (const reader of this.#readers) reader.push(event);
    // Walked without an iterator, of which there would be one for each delta. A listener may add or stop others.
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index += 1) {
      const listener = listeners[index];
      if (listener === undefined || listener.hasStopped) continue;
      // A watcher's fault is its own: the run must not notice.
      try {
        const returned: unknown = listener.hear(event);
        if (returned !== undefined && returned instanceof Promise) returned.catch(() => undefined);
      } catch {}
    }
  }
}

interface Listener {
  readonly hear: (event: RunEvent) => void;
  hasStopped: boolean;
}

class Reader implements AsyncIterableIterator<RunEvent> {
  #waiting: RunEvent[];
  #taken = 0;
  #live = 0;
  #ended = false;
  readonly #wakes: ((result: IteratorResult<RunEvent>) => void)[] = [];
  readonly #leave: (reader: Reader) => void;

  constructor(past: RunEvent[], leave: (reader: Reader) => void) {
    this.#waiting = past;
    this.#live = past.filter((event) => !isStored(event)).length;
    this.#leave = leave;
  }

  push(event: RunEvent): void {
    const wake = this.#wakes.shift();
    if (wake !== undefined) return wake({ value: event, done: false });
    if (!isStored(event)) {
      if (this.#live >= maxLiveWaiting) return;
      this.#live += 1;
    }
    this.#waiting.push(event);
  }

  end(): void {
    this.#ended = true;
    for (const wake of this.#wakes.splice(0)) wake({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<RunEvent>> {
    const event = this.#waiting[this.#taken];
    if (event !== undefined) {
      this.#take(event);
      return Promise.resolve({ value: event, done: false });
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.#leave(this);
    this.#waiting = [];
    this.#taken = 0;
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(event: RunEvent): void {
    this.#taken += 1;
    if (!isStored(event)) this.#live -= 1;
    if (this.#taken === this.#waiting.length || this.#taken >= maxTaken) {
      this.#waiting = this.#waiting.slice(this.#taken);
      this.#taken = 0;
    }
  }
}
