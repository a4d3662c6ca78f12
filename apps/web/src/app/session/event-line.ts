import { backoff } from '@cobbler/agent/values';
import { ApiError, problemOf, reach } from './api.ts';

/** Heartbeat interval until the server sends its own, in milliseconds. */
const assumedHeartbeatMs = 15_000;

/** Number of heartbeats without data after which the connection counts as broken. */
const missedBeats = 2.5;

/** Minimum and maximum delay before reconnecting, in milliseconds. */
const back = [250, 4_000] as const;

/** Options of an event connection. */
export interface EventConnectionOptions {
  readonly sessionId: string;
  /** Returns the last known event; later ones are requested. */
  readonly position: () => number;
  /** Receives the JSON of every frame. Returns false if it is not the expected event, so that the connection is replaced. */
  readonly onFrame: (frame: Record<string, unknown>) => boolean;
  /** Called when all frames of one chunk of the stream have been processed. */
  readonly onChunkEnd: () => void;
  /** Called when the connection is lost. It reconnects automatically, unless waiting cannot help. */
  readonly onLost: (reason: ApiError) => void;
}

/**
 * The events of a session over a sequence of connections: when one breaks or is silent, the next one continues after
 * the last event. It can pause while the page is hidden, and resume.
 */
export class EventConnection {
  readonly #options: EventConnectionOptions;
  #connection: AbortController | undefined;
  #wake: (() => void) | undefined;
  #heartbeatMs = assumedHeartbeatMs;
  #lastByteAt = 0;
  #failures = 0;
  #isResting = false;
  #isEnded = false;

  constructor(options: EventConnectionOptions) {
    this.#options = options;
    void this.#connectForever();
  }

  /** Closes the connection until {@link wake}. */
  rest(): void {
    this.#isResting = true;
    this.#connection?.abort();
  }

  /** Reconnects without delay, because the page is visible again or the network is back. */
  wake(): void {
    this.#isResting = false;
    this.#failures = 0;
    if (this.#connection !== undefined && Date.now() - this.#lastByteAt > this.#heartbeatMs * 1.2) {
      this.#connection.abort();
    }
    this.#wake?.();
  }

  /** Closes the connection permanently. */
  end(): void {
    this.#isEnded = true;
    this.#connection?.abort();
    this.#wake?.();
  }

  async #connectForever(): Promise<void> {
    while (!this.#isEnded) {
      if (this.#isResting) await this.#pause();
      if (this.#isEnded) return;
      let reason = new ApiError(0, 'cut', 'The connection was lost.');
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
      // If the server rejects the credentials, retrying does not help: the user must act first.
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
    const frames = new SseReader();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#isEnded) return;
      this.#lastByteAt = Date.now();
      for (const data of frames.push(value)) {
        const frame = objectIn(data);
        // A stored event among the frames that are skipped leaves a gap, so that the connection is replaced.
        if (frame === undefined) continue;
        if (frame['type'] === 'hello') this.#handleHello(frame['heartbeatMs']);
        if (!this.#options.onFrame(frame)) return;
      }
      this.#options.onChunkEnd();
    }
  }

  #handleHello(heartbeatMs: unknown): void {
    if (typeof heartbeatMs === 'number') this.#heartbeatMs = heartbeatMs;
    this.#failures = 0;
  }

  /** Waits for this time, or until resumed. */
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

/** Returns the JSON object in the data of a frame; undefined if it is anything else. */
function objectIn(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum length of a frame in UTF-16 code units. A prompt has at most 64 MiB, and its JSON may have more code units. */
const maxFrameLength = 134_217_728;

/** Splits an event stream into the data of its frames. Incomplete frames are never returned. */
export class SseReader {
  readonly #maxLength: number;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string | undefined;

  constructor(maxLength: number = maxFrameLength) {
    this.#maxLength = maxLength;
  }

  /**
   * Returns the data of the frames that these bytes complete.
   * @throws ApiError if a frame is too large; requesting it again does not help.
   */
  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    const frames: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data !== undefined) frames.push(this.#data);
        this.#data = undefined;
      } else if (line.startsWith('data: ')) {
        const text = line.slice('data: '.length);
        this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
      }
    }
    if (this.#rest.length + (this.#data?.length ?? 0) > this.#maxLength)
      throw new ApiError(413, 'frame_too_large', 'An event in this session is too large for this page.');
    return frames;
  }
}
