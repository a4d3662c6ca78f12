import { backoff } from '@cobbler/agent';
import { ApiError, problemOf, reach } from './api.ts';
import { FrameReader } from './frame-reader.ts';

/** Until the server says how often it shows that it lives, in milliseconds. */
const assumedHeartbeatMs = 15_000;

/** After so many heartbeats without a byte the line is dead. */
const missedBeats = 2.5;

/** Waits before coming back grow from the first to the second, in milliseconds. */
const back = [250, 4_000] as const;

/** How a line of events is kept up. */
export interface LineOptions {
  readonly sessionId: string;
  /** The last event that is held: what comes after it is asked for. */
  readonly position: () => number;
  /** Gets the JSON of every frame. False: what came is not what has to follow, so the line is made anew. */
  readonly hear: (frame: Record<string, unknown>) => boolean;
  /** The frames of one piece of the stream have all been heard. */
  readonly heard: () => void;
  /** The line is lost; it comes back by itself, unless the reason is one that waiting does not change. */
  readonly onLost: (reason: ApiError) => void;
}

/**
 * The events of a session over one connection after another: when one breaks, or shows no sign of life, the
 * next one goes on where it ended. It can rest, when nobody looks, and be woken.
 */
export class EventLine {
  readonly #options: LineOptions;
  #connection: AbortController | undefined;
  #wake: (() => void) | undefined;
  #heartbeatMs = assumedHeartbeatMs;
  #lastByteAt = 0;
  #failures = 0;
  #isResting = false;
  #isEnded = false;

  constructor(options: LineOptions) {
    this.#options = options;
    void this.#keepUp();
  }

  /** Lets the connection go until {@link wake}. */
  rest(): void {
    this.#isResting = true;
    this.#connection?.abort();
  }

  /** Somebody looks again, or the network is back: no time is lost waiting. */
  wake(): void {
    this.#isResting = false;
    this.#failures = 0;
    if (this.#connection !== undefined && Date.now() - this.#lastByteAt > this.#heartbeatMs * 1.2) {
      this.#connection.abort();
    }
    this.#wake?.();
  }

  /** Gives the line up for good. */
  end(): void {
    this.#isEnded = true;
    this.#connection?.abort();
    this.#wake?.();
  }

  async #keepUp(): Promise<void> {
    while (!this.#isEnded) {
      if (this.#isResting) await this.#pause();
      if (this.#isEnded) return;
      let reason = new ApiError(0, 'cut', 'The connection broke.');
      try {
        await this.#connect();
      } catch (error) {
        if (error instanceof ApiError) reason = error;
      }
      if (this.#isEnded) return;
      if (this.#isResting) continue;
      this.#options.onLost(reason);
      const pauseMs = backoff({ baseMs: back[0], maxMs: back[1] }, this.#failures, Math.random());
      this.#failures += 1;
      // Whom the server knows and refuses, it will refuse again: somebody has to do something first.
      await this.#pause(reason.passes || reason.status === 429 ? pauseMs : undefined);
    }
  }

  async #connect(): Promise<void> {
    const connection = new AbortController();
    this.#connection = connection;
    this.#lastByteAt = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - this.#lastByteAt > this.#heartbeatMs * missedBeats) connection.abort();
    }, 1_000);
    try {
      const { sessionId, position } = this.#options;
      const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events?after=${position()}`;
      const response = await reach(path, { signal: connection.signal });
      if (!response.ok || response.body === null) throw problemOf(response.status, await response.text());
      await this.#read(response.body);
    } finally {
      clearInterval(watch);
      connection.abort();
      this.#connection = undefined;
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const frames = new FrameReader();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#isEnded) return;
      this.#lastByteAt = Date.now();
      for (const data of frames.push(value)) {
        const frame = JSON.parse(data) as Record<string, unknown>;
        if (frame['type'] === 'hello') this.#greeted(frame['heartbeatMs']);
        if (!this.#options.hear(frame)) return;
      }
      this.#options.heard();
    }
  }

  #greeted(heartbeatMs: unknown): void {
    if (typeof heartbeatMs === 'number') this.#heartbeatMs = heartbeatMs;
    this.#failures = 0;
  }

  /** Waits so long, or until somebody wakes it. */
  #pause(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      this.#wake = done;
    });
  }
}
