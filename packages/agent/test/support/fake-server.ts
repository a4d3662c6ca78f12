import type { RawResponse, Transport, TransportRequest } from '../../src/provider/wire/transport.ts';

const encoder = new TextEncoder();

/** One request that reached the server, with methods that respond to it. */
export class Exchange {
  readonly request: TransportRequest;
  readonly text: string;
  /** True if the request was aborted or its response was closed. */
  get isDestroyed(): boolean {
    return this.request.signal.aborted || this.#isClosed;
  }

  /** True if the client closed the response. */
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

  /** Sends a chunk, immediately if the body is being read. */
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

/** The behavior of a server for one request. */
export type Answer = (exchange: Exchange) => void;

/** A server in the same process. The test handles requests after the end of its script. */
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

  /** Returns the exchange with this index. */
  at(index: number): Exchange {
    const exchange = this.exchanges[index];
    if (exchange === undefined) throw new Error(`There was no request ${index + 1}.`);
    return exchange;
  }
}

/** Responds with this complete stream. */
export function streams(text: string): Answer {
  return (exchange) => exchange.head().write(text).end();
}

/** Responds with an HTTP error. */
export function refuses(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (exchange) => exchange.head(status, headers).write(body).end();
}

/** Breaks the connection after this part of a stream. */
export function cutsAfter(text: string): Answer {
  return (exchange) => exchange.head().write(text).cut();
}
