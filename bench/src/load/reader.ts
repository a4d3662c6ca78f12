import { pause } from '../server/stage.ts';
import type { Target } from './client.ts';
import { whyNot } from './client.ts';
import type { Figures } from './figures.ts';

/** The relevant fields of a stored event. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly status: string | undefined;
}

/** Delay before it reconnects, in milliseconds. */
const backMs = 250;

/** A reader of a session's events. It reconnects after each cut, and counts lost and duplicated events. */
export class Reader {
  readonly sessionId: string;
  /** The last event received. */
  seen: number = 0;
  lost: number = 0;
  doubled: number = 0;
  /** Number of streams that ended unexpectedly. */
  cuts: number = 0;
  readonly #target: Target;
  readonly #figures: Figures;
  readonly #onEvent: (event: SeenEvent) => void;
  #connection = new AbortController();
  #isStopped = false;
  readonly #following: Promise<void>;
  #rest = '';

  constructor(
    target: Target,
    sessionId: string,
    figures: Figures,
    onEvent: (event: SeenEvent) => void = () => undefined,
  ) {
    this.sessionId = sessionId;
    this.#target = target;
    this.#figures = figures;
    this.#onEvent = onEvent;
    this.#following = this.#follow();
  }

  /** Disconnects like a phone in a tunnel, and reconnects automatically. */
  drop(): void {
    this.#connection.abort();
  }

  /** Disconnects permanently. Events up to this one that have not arrived in time are lost. */
  async leave(last: number, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (this.seen < last && performance.now() < deadline) await pause(20);
    this.lost += Math.max(0, last - this.seen);
    this.#isStopped = true;
    this.#connection.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      this.#connection = new AbortController();
      this.#rest = '';
      try {
        await this.#listen(this.#connection.signal);
        this.cuts += 1;
      } catch (error) {
        if (this.#isStopped) return;
        if (!this.#connection.signal.aborted) this.#figures.failed(`watch: ${whyNot(error)}`);
      }
      await pause(backMs);
    }
  }

  /** Resolves when the server closes the connection. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { url, token } = this.#target;
    const began = performance.now();
    const response = await fetch(`${url}/v1/sessions/${this.sessionId}/events`, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(this.seen > 0 && { 'last-event-id': String(this.seen) }),
      },
      signal,
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      this.#figures.failed(`watch: ${response.status}`);
      return;
    }
    this.#figures.took('a stream is opened', performance.now() - began);
    const decoder = new TextDecoder();
    for await (const chunk of response.body) this.#take(decoder.decode(chunk, { stream: true }));
  }

  #take(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end !== -1; end = this.#rest.indexOf('\n\n')) {
      this.#hear(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 2);
    }
  }

  #hear(frame: string): void {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    if (id === undefined) {
      // The server does not know the last event of this reader.
      if (/^data: \{"type":"reset"/m.test(frame)) this.lost += this.seen;
      return;
    }
    const seq = Number(id);
    if (seq <= this.seen) {
      this.doubled += 1;
      return;
    }
    this.lost += seq - this.seen - 1;
    this.seen = seq;
    const { type, status } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}');
    this.#onEvent({ seq, type: String(type), status: typeof status === 'string' ? status : undefined });
  }
}
