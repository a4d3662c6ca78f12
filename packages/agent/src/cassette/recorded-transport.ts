import { secretsInHeaders } from '../provider/http/redact.ts';
import type { RawResponse, Transport, TransportRequest } from '../provider/wire/transport.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Deck, Port, Put } from './ports.ts';
import type { Redaction } from './redaction.ts';
import { requestContent, withoutSecrets } from './request-content.ts';
import { thrownData, thrownFrom } from './thrown.ts';

/** Headers of answers that say whose account it is, or let somebody in. */
const withheld = /cookie|authoriz|authenticat|organization|project|account/i;

/**
 * A transport whose traffic is taped. What the run gets, and what the model gets, is what the cassette holds:
 * text with every secret taken out. On a replay nothing is sent.
 */
export function tapedTransport(
  deck: Deck,
  real: Transport,
  digest: (text: string) => Promise<string>,
): Transport {
  return async (request) => {
    request.signal.throwIfAborted();
    deck.learn(secretsInHeaders(request.headers));
    const content = await deck.during(requestContent(request, digest));
    request.signal.throwIfAborted();
    return await new Reception(deck, deck.ask('request', content), request, real).head;
  };
}

/** The real answer, while a recording is made. */
interface LiveResponse {
  readonly response: RawResponse;
  readonly put: Put;
  readonly redaction: Redaction;
}

/** One answer as it comes in. Once it is given up nothing of it comes in any more. */
class Reception {
  readonly #head = Promise.withResolvers<RawResponse>();
  readonly #body = Promise.withResolvers<void>();
  readonly #encoder = new TextEncoder();
  readonly #port: Port;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#over(this.#signal.reason);
  #live: LiveResponse | undefined;
  #onChunk: (bytes: Uint8Array) => void = () => {};

  constructor(deck: Deck, name: string, request: TransportRequest, real: Transport) {
    this.#signal = request.signal;
    this.#signal.addEventListener('abort', this.#onAbort);
    // Whoever has given up an answer does not look at its end.
    this.#body.promise.catch(() => {});
    this.#port = deck.open(name, {
      take: (data) => this.#take(data),
      fail: (error) => this.#over(error),
      start: (put, redaction) => {
        const begun = (response: RawResponse) => {
          this.#live = { response, put, redaction };
          put(headOf(response));
        };
        real(withoutSecrets(request, redaction)).then(begun, (thrown: unknown) =>
          put({ thrown: thrownData(thrown) }),
        );
      },
    });
  }

  get head(): Promise<RawResponse> {
    return this.#head.promise;
  }

  #take(data: JsonObject): void {
    if (typeof data['status'] === 'number')
      this.#head.resolve(this.#response(data['status'], data['headers']));
    else if (typeof data['chunk'] === 'string') this.#onChunk(this.#encoder.encode(data['chunk']));
    else if ('thrown' in data) this.#over(thrownFrom(data['thrown']));
    else this.#over();
  }

  #response(status: number, given: unknown): RawResponse {
    const headers = isObject(given) ? given : {};
    return {
      status,
      header: (name) => (Object.hasOwn(headers, name) ? String(headers[name]) : undefined),
      headerNames: Object.keys(headers),
      read: (onChunk) => {
        this.#onChunk = onChunk;
        if (this.#live !== undefined) listen(this.#live);
        return this.#body.promise;
      },
      close: () => {
        this.#live?.response.close();
        this.#over(new Error('the answer was given up'));
      },
    };
  }

  /** Without a reason: the body has come to its clean end. */
  #over(reason?: unknown): void {
    this.#port.close();
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#onChunk = () => {};
    if (reason === undefined) return this.#body.resolve();
    this.#head.reject(reason);
    this.#body.reject(reason);
  }
}

function headOf(response: RawResponse): JsonObject {
  const headers: JsonObject = {};
  for (const name of response.headerNames) {
    const value = response.header(name);
    if (value !== undefined && !withheld.test(name)) headers[name] = value;
  }
  return { status: response.status, headers };
}

/** Puts the body as text; a character or a secret that is cut in two waits for its rest. */
function listen({ response, put, redaction }: LiveResponse): void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const clean = redaction.stream();
  const tell = (chunk: string) => {
    if (chunk !== '') put({ chunk });
  };
  response
    .read((bytes) => tell(clean(decoder.decode(bytes, { stream: true }))))
    .finally(() => tell(clean(decoder.decode(), true)))
    .then(
      () => put({ end: true }),
      (thrown: unknown) => put({ thrown: thrownData(thrown) }),
    );
}
