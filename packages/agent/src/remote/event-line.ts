import type { BackoffPolicy } from '../values/backoff.ts';
import { backoff } from '../values/backoff.ts';
import { AgentError } from '../values/errors.ts';
import { parsedObject } from '../values/json.ts';
import { frameTooLarge, maxFrameBytes } from '../values/line-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { ApiLink } from './api-link.ts';
import { jsonOf, problemError } from './api-link.ts';

/** Assumed heartbeat interval until the server reports its own, in milliseconds. */
const assumedHeartbeatMs = 15_000;

/** Number of missed heartbeats after which the connection counts as lost. */
const missedBeats = 2.5;

/** Options of {@link EventLine}. */
export interface LineOptions {
  readonly link: ApiLink;
  readonly runtime: Runtime;
  readonly sessionId: string;
  /** Delays before a reconnect; they grow from base to max. */
  readonly back: BackoffPolicy;
  /** Returns the sequence number of the last received event; the server sends the events after it. */
  readonly position: () => number;
  /** Receives the JSON of every frame. Returns false if the events do not continue the log: a new connection is needed. */
  readonly handle: (data: Record<string, unknown>) => boolean;
  /** Called with the reason when the connection is lost. It reconnects automatically. */
  readonly onLost: (error: AgentError) => void;
  /** Creates the session if it does not exist on the server. Rejects if that is not possible. */
  readonly make: () => Promise<void>;
}

/** Receives the events of a session: when a connection is lost or silent, the next continues after the last event. */
export class EventLine {
  readonly #options: LineOptions;
  readonly #ended = new AbortController();
  #ready = Promise.withResolvers<void>();
  #isUp = false;
  #failures = 0;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#ready.promise.catch(() => undefined);
    void this.#keepUp();
  }

  /** Resolves when the connection is established. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Closes the connection permanently. */
  end(): void {
    this.#ended.abort();
  }

  /** Marks the connection as established, after `hello` was received. */
  up(): void {
    this.#isUp = true;
    this.#failures = 0;
    this.#ready.resolve();
  }

  async #keepUp(): Promise<void> {
    const { runtime, onLost, back } = this.#options;
    while (!this.#ended.signal.aborted) {
      let error = new AgentError({ kind: 'network', code: 'cut', message: 'The event stream ended.' });
      try {
        await this.#connect();
      } catch (thrown) {
        error = AgentError.from(thrown, 'network');
      }
      if (this.#ended.signal.aborted) return;
      if (this.#isUp) this.#ready = Promise.withResolvers();
      this.#isUp = false;
      onLost(error);
      await this.#pause(backoff(back, this.#failures, runtime.random()));
      this.#failures += 1;
    }
  }

  async #connect(): Promise<void> {
    const { link, sessionId, position, make } = this.#options;
    const watch = new IdleTimer(this.#options.runtime, this.#ended.signal);
    try {
      const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events`;
      const headers = { 'last-event-id': String(position()), accept: 'text/event-stream' };
      const response = await link.open('GET', path, { headers, signal: watch.signal });
      if (response.status === 404) return await make();
      if (!response.ok || response.body === null) throw problemError(response, await jsonOf(response));
      await this.#read(response.body, watch);
    } finally {
      watch.stop();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, watch: IdleTimer): Promise<void> {
    const frames = new FrameReader();
    const reader = body.getReader();
    // A fetch may ignore its signal after the response head; Node's does if its request has been garbage-collected.
    const giveUp = () => void reader.cancel().catch(() => undefined);
    watch.signal.addEventListener('abort', giveUp, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        watch.signal.throwIfAborted();
        if (done) return;
        watch.alive();
        for (const data of frames.push(value)) {
          const json = parsedObject(data) ?? {};
          if (json['type'] === 'hello' && typeof json['heartbeatMs'] === 'number') {
            watch.expect(json['heartbeatMs'] * missedBeats);
          }
          if (!this.#options.handle(json)) return;
        }
      }
    } finally {
      watch.signal.removeEventListener('abort', giveUp);
      giveUp();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#ended;
      const done = () => {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#options.runtime.timer(ms, done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** Aborts a connection that shows no sign of life. */
class IdleTimer {
  readonly #runtime: Runtime;
  readonly #stopped = new AbortController();
  readonly signal: AbortSignal;
  #withinMs = assumedHeartbeatMs * missedBeats;
  #lastAt: number;
  #cancel = () => {};

  constructor(runtime: Runtime, outer: AbortSignal) {
    this.#runtime = runtime;
    this.signal = AbortSignal.any([outer, this.#stopped.signal]);
    this.#lastAt = runtime.monotonic();
    this.#arm(this.#withinMs);
  }

  alive(): void {
    this.#lastAt = this.#runtime.monotonic();
  }

  /** Sets how long the connection may be silent. */
  expect(ms: number): void {
    this.#withinMs = ms;
    this.#cancel();
    this.#arm(ms);
  }

  stop(): void {
    this.#cancel();
    this.#stopped.abort();
  }

  #arm(ms: number): void {
    this.#cancel = this.#runtime.timer(ms, () => {
      const left = this.#lastAt + this.#withinMs - this.#runtime.monotonic();
      if (left <= 0) this.#stopped.abort();
      else this.#arm(left);
    });
  }
}

/** Splits the bytes of an event stream into frames. Ignores comments and fields other than data. */
class FrameReader {
  readonly #decoder = new TextDecoder();
  /** Text of the incomplete line. */
  #text = '';
  /** Data lines of the incomplete frame. */
  #data: string[] = [];

  /**
   * Returns the data of the frames that these bytes complete. A frame that is cut off is discarded.
   * @throws AgentError `network`, code `frame_too_large`.
   */
  push(bytes: Uint8Array): string[] {
    const chunk = this.#decoder.decode(bytes, { stream: true });
    this.#text += chunk;
    if (this.#text.length > maxFrameBytes) throw frameTooLarge();
    // The lines are searched only when there is a new one.
    const lines = chunk.includes('\n') ? this.#text.split(/\r?\n/) : [this.#text];
    this.#text = lines.pop() ?? '';
    const frames: string[] = [];
    for (const line of lines) {
      if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line === '' && this.#data.length > 0) frames.push(this.#data.splice(0).join('\n'));
    }
    return frames;
  }
}
