import { secretsInHeaders } from '../provider/http/redact.ts';
import type { RawResponse, Transport, TransportRequest } from '../provider/wire/transport.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject, parsedObject } from '../values/json.ts';
import type { Port, Ports, PutEntry } from './ports.ts';
import type { Redaction } from './redaction.ts';
import { thrownData, thrownFrom } from './thrown.ts';

/** Response headers that identify the account or grant access. */
const withheld = /cookie|authoriz|authenticat|organization|project|account/i;

/**
 * Wraps a transport so that its traffic is recorded. Both the run and the model receive exactly what the cassette
 * contains: text without secrets. During a replay nothing is sent.
 */
export function recordedTransport(
  ports: Ports,
  real: Transport,
  digest: (text: string) => Promise<string>,
): Transport {
  return async (request) => {
    request.signal.throwIfAborted();
    ports.learn(secretsInHeaders(request.headers));
    const content = await ports.during(requestContent(request, digest));
    request.signal.throwIfAborted();
    return await new Reception(ports, ports.ask('request', content), request, real).head;
  };
}

interface LiveResponse {
  readonly response: RawResponse;
  readonly put: PutEntry;
  readonly redaction: Redaction;
}

/** A response as it arrives. Once the run has abandoned it, nothing more of it is delivered. */
class Reception {
  readonly #head = Promise.withResolvers<RawResponse>();
  readonly #body = Promise.withResolvers<void>();
  readonly #encoder = new TextEncoder();
  readonly #port: Port;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#over(this.#signal.reason);
  #live: LiveResponse | undefined;
  #onChunk: (bytes: Uint8Array) => void = () => {};

  constructor(ports: Ports, name: string, request: TransportRequest, real: Transport) {
    this.#signal = request.signal;
    this.#signal.addEventListener('abort', this.#onAbort);
    // The run does not handle this promise after it has abandoned the response.
    this.#body.promise.catch(() => {});
    this.#port = ports.open(name, {
      take: (data) => this.#take(data),
      fail: (error) => this.#over(error),
      start: (put, redaction) => {
        const onResponse = (response: RawResponse) => {
          this.#live = { response, put, redaction };
          put(headOf(response));
        };
        real(withoutSecrets(request, redaction)).then(onResponse, (thrown: unknown) =>
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
        this.#over(new Error('the response was abandoned'));
      },
    };
  }

  /** Ends the response. Without a reason, the body is complete. */
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

/** Delivers the body as text. A character or secret that is split between chunks is held back until it is complete. */
function listen({ response, put, redaction }: LiveResponse): void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const clean = redaction.stream();
  const putChunk = (chunk: string) => {
    if (chunk !== '') put({ chunk });
  };
  response
    .read((bytes) => putChunk(clean(decoder.decode(bytes, { stream: true }))))
    .finally(() => putChunk(clean(decoder.decode(), true)))
    .then(
      () => put({ end: true }),
      (thrown: unknown) => put({ thrown: thrownData(thrown) }),
    );
}

/** Maximum length of recorded base64 strings; longer ones are replaced by their hash. */
const maxMediaLength = 1024;

const media = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Returns the part of a request that is recorded and compared: path and body. Headers are excluded, because they
 * contain keys under names that cannot all be known in advance. The host is excluded, because it can change.
 */
async function requestContent(
  request: TransportRequest,
  digest: (text: string) => Promise<string>,
): Promise<JsonObject> {
  const POST = pathOf(request.url);
  const text = textOf(request.body);
  const body = parsedObject(text);
  return body === undefined
    ? { POST, text }
    : { POST, ...((await replaceMedia(body, digest)) as JsonObject) };
}

/** Returns the request without secrets in its body, which the model could repeat token by token. Keys in headers stay. */
function withoutSecrets(request: TransportRequest, redaction: Redaction): TransportRequest {
  const text = textOf(request.body);
  const body = redaction.finds(text) ? parsedObject(text) : undefined;
  if (body === undefined) return request;
  return { ...request, body: [new TextEncoder().encode(JSON.stringify(redaction.object(body)))] };
}

/** Returns the path of a URL with the names of its query parameters. Their values can be keys, so they are left out. */
function pathOf(url: string): string {
  const { pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].join('&');
  return names === '' ? pathname : `${pathname}?${names}`;
}

function textOf(body: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return body.map((bytes) => decoder.decode(bytes, { stream: true })).join('') + decoder.decode();
}

async function replaceMedia(value: Json, digest: (text: string) => Promise<string>): Promise<Json> {
  if (typeof value === 'string') {
    if (value.length <= maxMediaLength || !media.test(value)) return value;
    return `(${value.length} characters of base64, sha256 ${await digest(value)})`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map((item) => replaceMedia(item, digest)));
  const fields: JsonObject = {};
  for (const [name, field] of Object.entries(value)) fields[name] = await replaceMedia(field, digest);
  return fields;
}
