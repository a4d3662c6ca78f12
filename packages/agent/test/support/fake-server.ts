import type { RawResponse, Transport, TransportRequest } from '../../src/provider/wire/transport.ts';

const encoder = new TextEncoder();

/** One request that reached the server, and the hand that answers it. */
export class Exchange {
  readonly request: TransportRequest;
  readonly text: string;
  /** The transport has been told to destroy the connection. */
  get isDestroyed(): boolean {
    return this.request.signal.aborted || this.#isClosed;
  }

  /** The response has been given up. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  #isClosed = false;
  #onChunk: ((bytes: Uint8Array) => void) | undefined;
  #waiting: Uint8Array[] = [];
  readonly #head = Promise.withResolvers<RawResponse>();
  readonly #body = Promise.withResolvers<void>();

  constructor(request: TransportRequest) {
    this.request = request;
    this.text = Buffer.concat(request.body).toString();
    this.#body.promise.catch(() => {});
  }

  get response(): Promise<RawResponse> {
    return this.#head.promise;
  }

  /** Sends status and headers. */
  head(status = 200, headers: Record<string, string> = { 'content-type': 'text/event-stream' }): this {
    this.#head.resolve({
      status,
      header: (name) => headers[name],
      headerNames: Object.keys(headers),
      read: (onChunk) => {
        this.#onChunk = onChunk;
        for (const bytes of this.#waiting.splice(0)) onChunk(bytes);
        return this.#body.promise;
      },
      close: () => {
        this.#isClosed = true;
      },
    });
    return this;
  }

  /** Sends a chunk, at once when somebody reads. */
  write(chunk: string | Uint8Array): this {
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    if (this.#onChunk === undefined) this.#waiting.push(bytes);
    else this.#onChunk(bytes);
    return this;
  }

  /** Ends the body cleanly. */
  end(): void {
    this.#body.resolve();
  }

  /** Breaks the connection. */
  cut(error: unknown = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })): void {
    this.#head.reject(error);
    this.#body.reject(error);
  }
}

/** What a server does with one request. */
export type Answer = (exchange: Exchange) => void;

/** A server in the same process. Answers with its script, one entry per request, or else waits for the test. */
export class FakeServer {
  readonly exchanges: Exchange[] = [];
  readonly #script: Answer[];

  constructor(...script: Answer[]) {
    this.#script = script;
  }

  readonly transport: Transport = (request) => {
    const exchange = new Exchange(request);
    this.exchanges.push(exchange);
    this.#script.shift()?.(exchange);
    return exchange.response;
  };

  /** The request of this number. */
  at(index: number): Exchange {
    const exchange = this.exchanges[index];
    if (exchange === undefined) throw new Error(`There was no request ${index + 1}.`);
    return exchange;
  }
}

/** Answers well with this stream. */
export function streams(text: string): Answer {
  return (exchange) => exchange.head().write(text).end();
}

/** Answers with an HTTP failure. */
export function refuses(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (exchange) => exchange.head(status, headers).write(body).end();
}

/** Breaks the connection after this much of a stream. */
export function cutsAfter(text: string): Answer {
  return (exchange) => exchange.head().write(text).cut();
}
