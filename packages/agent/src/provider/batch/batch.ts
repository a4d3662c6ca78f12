import type { Runtime } from '../../values/runtime.ts';
import type { RawResponse } from '../wire/transport.ts';
import type { BatchHttp } from './batch-http.ts';
import { BatchFailure } from './batch-http.ts';
import type { BatchEntry, BatchOutcome, BatchService, FindOutcome } from './batch-service.ts';

/** A request that waits for its response. */
export interface WaitingRequest {
  readonly entry: BatchEntry;
  readonly bytes: number;
  resolve(response: RawResponse): void;
  reject(error: unknown): void;
}

/** Factor by which the time between two checks grows. */
const growth = 1.5;

/** Maximum time between two checks, in milliseconds. */
const maxPauseMs = 60_000;

/** What a batch needs from its transport. */
export interface BatchSetup {
  readonly service: BatchService;
  readonly http: BatchHttp;
  readonly runtime: Runtime;
  /** Time before the first check, in milliseconds. */
  readonly pollMs: number;
}

/** One batch: collects requests, is submitted once, and is checked until it has ended or no request waits for it. */
export class Batch {
  readonly #setup: BatchSetup;
  readonly #waiting = new Map<string, WaitingRequest>();
  #bytes = 0;
  #id: string | undefined;

  constructor(setup: BatchSetup) {
    this.#setup = setup;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(request: WaitingRequest): void {
    this.#waiting.set(request.entry.id, request);
    this.#bytes += request.bytes;
  }

  /** Removes a request that was given up. The batch is cancelled with its last request. */
  giveUp(id: string, reason: unknown): void {
    const request = this.#waiting.get(id);
    if (request === undefined) return;
    this.#waiting.delete(id);
    this.#bytes -= request.bytes;
    request.reject(reason);
    if (this.#waiting.size === 0 && this.#id !== undefined) void this.#cancel(this.#id);
  }

  /** Submits the batch and passes each request its response. Never rejects. */
  async run(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const { service, http } = this.#setup;
    try {
      const id = await service.submit(
        Array.from(this.#waiting.values(), ({ entry }) => entry),
        http,
      );
      this.#id = id;
      if (this.#waiting.size === 0) return await this.#cancel(id);
      this.#deliver(await this.#ended(id));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Checks until the batch has ended. A check that fails for a temporary reason is repeated: its requests are paid for. */
  async #ended(id: string): Promise<FindOutcome> {
    const { service, http, pollMs } = this.#setup;
    for (let pauseMs = pollMs; this.#waiting.size > 0; pauseMs = Math.min(pauseMs * growth, maxPauseMs)) {
      await this.#pause(pauseMs);
      if (this.#waiting.size === 0) break;
      try {
        const outcomes = await service.outcomes(id, http);
        if (outcomes !== undefined) return outcomes;
      } catch (error) {
        if (error instanceof BatchFailure && !isTemporary(error.httpStatus)) throw error;
      }
    }
    return () => undefined;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#setup.runtime.timer(ms, resolve));
  }

  async #cancel(id: string): Promise<void> {
    // The requests have failed already, and a batch that continues is only paid for.
    await this.#setup.service.cancel(id, this.#setup.http).catch(() => {});
  }

  #deliver(outcomeOf: FindOutcome): void {
    for (const [id, { resolve }] of this.#waiting) {
      const outcome = outcomeOf(id) ?? missing;
      if ('events' in outcome) resolve(responseOf(200, eventStream(outcome.events)));
      else resolve(responseOf(outcome.status, JSON.stringify(outcome.error)));
    }
    this.#waiting.clear();
  }

  #fail(error: unknown): void {
    for (const { resolve, reject } of this.#waiting.values()) {
      if (error instanceof BatchFailure) resolve(responseOf(error.httpStatus, error.body, error.headers));
      else reject(error);
    }
    this.#waiting.clear();
  }
}

const missing: BatchOutcome = {
  status: 502,
  error: { error: { message: 'The batch ended without a response to this request.' } },
};

function isTemporary(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Returns events as the body of a stream. */
function eventStream(events: readonly unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Returns a response that has arrived as a whole. */
function responseOf(status: number, body: string, given?: Headers): RawResponse {
  const headers = new Headers(given);
  headers.set('content-type', status === 200 ? 'text/event-stream' : 'application/json');
  return {
    status,
    header: (name) => headers.get(name) ?? undefined,
    headerNames: [...headers.keys()],
    async read(onChunk) {
      onChunk(new TextEncoder().encode(body));
    },
    close() {},
  };
}
