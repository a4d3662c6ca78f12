import type { Event, LiveEvent, RunEvent, UnstoredEnd } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { AgentError } from '../values/errors.ts';
import { sizeOf } from '../values/sizes.ts';
import { AnswerSoFar } from './response-so-far.ts';

/** Maximum number of live events queued for one reader. Beyond it, the reader loses live events, but never stored ones. */
const maxLiveWaiting = 10_000;

/** Maximum number of bytes of the live events queued for one reader. A larger event is queued only if no other is. */
const maxLiveBytes = 16_777_216;

/** Maximum number of readers and listeners of one run at the same time. */
export const maxWatchers = 1_000;

/** Number of events that a reader takes before their memory is released. */
const maxTaken = 1_000;

/**
 * Delivers the events of one run to any number of readers. A reader never drives or delays the run. It receives
 * `started`, the stored events since the start of the run and the response so far, then everything as it happens, at
 * its own speed.
 */
export class Feed {
  /** The response that is being received, for readers that join in the middle of it. */
  readonly soFar: AnswerSoFar = new AnswerSoFar();
  readonly #past: RunEvent[] = [];
  #readers: Set<Reader> | undefined;
  /** Replaced and never changed: an event is passed to those who listened when it was published. */
  #listeners: readonly Listener[] = [];
  #quiet = false;
  #ended = false;

  /** Publishes the first event, a stored one or an end that is not stored to all readers, including later ones. */
  publish(event: Extract<LiveEvent, { type: 'started' }> | Event | UnstoredEnd): void {
    this.#past.push(event);
    this.live(event);
  }

  /** Publishes a live event to the current readers, unless the end is being written. Bound once, for speed. */
  readonly live = (event: RunEvent): void => {
    if (this.#quiet && !isStored(event) && event.type !== 'finished') return;
    this.soFar.handle(event);
    // Readers come first: a reader that a listener creates already starts with this event.
    if (this.#readers !== undefined) for (const reader of this.#readers) reader.push(event);
    // An index, because an iterator would be created for each delta. A listener may add or stop others.
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index += 1) {
      const listener = listeners[index];
      if (listener === undefined || listener.hasStopped) continue;
      // An error in a listener must not affect the run.
      try {
        const returned: unknown = listener.handle(event);
        if (returned !== undefined && returned instanceof Promise) returned.catch(() => undefined);
      } catch {}
    }
  };

  /** Suppresses live events: the end is being written, and only stored events follow. */
  muteLive(): void {
    this.#quiet = true;
  }

  /** Ends the feed. Readers end once they have taken their queued events. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers ?? []) reader.end();
    this.#readers = undefined;
    this.#listeners = [];
  }

  /**
   * Calls the listener for each later event, synchronously. Returns a function that removes it.
   * @throws AgentError `invalid`, code `too_many_watchers`.
   */
  listen(listener: (event: RunEvent) => void): () => void {
    if (this.#ended) return () => undefined;
    this.#checkWatchers();
    // A separate object for each call, so that a function passed twice is called twice and each call is stopped
    // separately.
    const own: Listener = { handle: listener, hasStopped: false };
    this.#listeners = [...this.#listeners, own];
    return () => {
      own.hasStopped = true;
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  /** Calls the listener for the events so far and for each later event. Returns a function that removes it. */
  follow(listener: (event: RunEvent) => void): () => void {
    for (const event of this.#soFar) listener(event);
    return this.listen(listener);
  }

  get #soFar(): RunEvent[] {
    return [...this.#past, ...this.soFar.events];
  }

  /**
   * Returns a reader that starts with the events so far. It subscribes immediately, not at its first `next`.
   * @throws AgentError `invalid`, code `too_many_watchers`.
   */
  read(): AsyncIterableIterator<RunEvent> {
    this.#checkWatchers();
    const reader = new Reader(this.#soFar, (gone) => void this.#readers?.delete(gone));
    this.#readers ??= new Set();
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  #checkWatchers(): void {
    if ((this.#readers?.size ?? 0) + this.#listeners.length < maxWatchers) return;
    const message = `The run already has the maximum of ${maxWatchers} readers and listeners. Stop one of them first.`;
    throw new AgentError({ kind: 'invalid', code: 'too_many_watchers', message });
  }
}

interface Listener {
  readonly handle: (event: RunEvent) => void;
  hasStopped: boolean;
}

class Reader implements AsyncIterableIterator<RunEvent> {
  #waiting: RunEvent[];
  #taken = 0;
  #live = 0;
  #liveBytes = 0;
  #ended = false;
  readonly #wakes: ((result: IteratorResult<RunEvent>) => void)[] = [];
  readonly #leave: (reader: Reader) => void;

  constructor(past: RunEvent[], leave: (reader: Reader) => void) {
    this.#waiting = past;
    for (const event of past) if (!isStored(event)) this.#count(event, 1);
    this.#leave = leave;
  }

  push(event: RunEvent): void {
    const wake = this.#wakes.shift();
    if (wake !== undefined) return wake({ value: event, done: false });
    if (!isStored(event)) {
      if (!this.#hasRoom(event)) return;
      this.#count(event, 1);
    }
    this.#waiting.push(event);
  }

  #hasRoom(event: RunEvent): boolean {
    if (this.#live === 0) return true;
    return this.#live < maxLiveWaiting && this.#liveBytes + sizeOf(event) <= maxLiveBytes;
  }

  #count(event: RunEvent, sign: 1 | -1): void {
    this.#live += sign;
    this.#liveBytes += sign * sizeOf(event);
  }

  end(): void {
    this.#ended = true;
    for (const wake of this.#wakes.splice(0)) wake({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<RunEvent>> {
    const event = this.#waiting[this.#taken];
    if (event === undefined) {
      if (this.#ended) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve) => this.#wakes.push(resolve));
    }
    this.#taken += 1;
    if (!isStored(event)) this.#count(event, -1);
    if (this.#taken === this.#waiting.length || this.#taken >= maxTaken) {
      this.#waiting = this.#waiting.slice(this.#taken);
      this.#taken = 0;
    }
    return Promise.resolve({ value: event, done: false });
  }

  return(): Promise<IteratorResult<RunEvent>> {
    this.#leave(this);
    this.#waiting = [];
    this.#taken = 0;
    this.end();
    return this.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
