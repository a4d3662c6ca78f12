import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { AgentError } from '@cobbler/agent';
import type { RawResponse, Transport, TransportRequest } from '@cobbler/agent/provider';
import { streamFault } from '../response/fault.ts';
import { ResponseReader } from '../response/response-reader.ts';
import { fieldsOf } from '../values/fields.ts';
import type { SinkCall } from '../values/sink-call.ts';
import type { OpenModel } from './model-source.ts';
import { answersLike, plainResponse, renamed } from './raw-response.ts';
import { chunkOf, isStream } from './sink-framing.ts';

/** The connection of a request to its service. */
export interface SdkConnection {
  readonly open: OpenModel;
  readonly transport: Transport;
  readonly signal: AbortSignal;
}

/**
 * Sends a request through the SDK, which writes it and reads the response, with Cobbler's transport in between.
 *
 * X1. A response with an error status or another content type never reaches the SDK: Cobbler reads it directly.
 * X2. Only the connection reports its own state, never the SDK.
 * X3. The SDK reads every byte before a broken connection is reported.
 */
export function callSdk(call: LanguageModelV4CallOptions, way: SdkConnection): Promise<RawResponse> {
  const head = Promise.withResolvers<RawResponse>();
  const result = start(call, way, (raw, body) => head.resolve(new SdkResponse(raw, result, body)), head);
  result.then(
    (made) => head.resolve(new SdkResponse(plainResponse(200, made.response?.headers), result)),
    (error: unknown) => {
      const answer = answersLike(error);
      if (answer === undefined) head.reject(beforeSending(error));
      else head.resolve(answer);
    },
  );
  return head.promise;
}

async function start(
  call: LanguageModelV4CallOptions,
  { open, transport, signal }: SdkConnection,
  answered: (raw: RawResponse, body: FetchBody) => void,
  head: PromiseWithResolvers<RawResponse>,
): Promise<LanguageModelV4StreamResult> {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    let raw: RawResponse;
    try {
      raw = await transport(await requestOf(input, init, signal));
    } catch (error) {
      head.reject(error);
      throw error;
    }
    if (raw.status < 200 || raw.status >= 300 || !isStream(raw.header('content-type'))) {
      head.resolve(renamed(raw));
      throw new Error('The SDK cannot convert the response.');
    }
    const body = new FetchBody();
    answered(raw, body);
    const type = raw.header('content-type') ?? 'text/event-stream';
    return new Response(body.stream, { status: raw.status, headers: { 'content-type': type } });
  };
  // A skipped event still counts as activity, and the last event is recognized only in its raw form.
  return await open({ fetch, call }).doStream({ ...call, abortSignal: signal, includeRawChunks: true });
}

/** Final events of streams, after which some services leave the connection open. */
const last: ReadonlySet<unknown> = new Set([
  'message_stop',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

const tooLarge: SinkCall = {
  say: 'fail',
  kind: 'broken',
  message: 'The response cannot be parsed: one event of the stream is too large.',
};

/** A response that the SDK reads. */
class SdkResponse implements RawResponse {
  readonly status: number;
  readonly headerNames: readonly string[];
  readonly #raw: RawResponse;
  readonly #result: Promise<LanguageModelV4StreamResult>;
  readonly #body: FetchBody | undefined;
  #parts: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  #isClosed = false;

  constructor(raw: RawResponse, result: Promise<LanguageModelV4StreamResult>, body?: FetchBody) {
    const { status, headerNames } = raw;
    this.status = status;
    this.headerNames = headerNames;
    this.#raw = renamed(raw);
    this.#result = result;
    this.#body = body;
  }

  header(name: string): string | undefined {
    return this.#raw.header(name);
  }

  async read(onChunk: (bytes: Uint8Array) => void): Promise<void> {
    const pumped = this.#pump(onChunk);
    await this.#tell(onChunk);
    const broken = await pumped;
    if (broken !== undefined) throw broken.error;
  }

  close(): void {
    this.#isClosed = true;
    this.#raw.close();
    this.#body?.end();
    this.#parts?.cancel().catch(() => {});
  }

  /** Passes the bytes to the SDK. Each chunk counts as activity, even if the SDK ignores it. */
  async #pump(onChunk: (bytes: Uint8Array) => void): Promise<{ readonly error: unknown } | undefined> {
    const body = this.#body;
    if (body === undefined) return undefined;
    try {
      await this.#raw.read((bytes) => {
        if (this.#isClosed || bytes.length === 0) return;
        onChunk(chunkOf(body.push(bytes) ? [] : [tooLarge]));
      });
      body.end('clean');
      return undefined;
    } catch (error) {
      body.end();
      return { error };
    }
  }

  async #tell(onChunk: (bytes: Uint8Array) => void): Promise<void> {
    const reader = new ResponseReader();
    // Parts may arrive long after their bytes, which already counted as activity: parts alone do not count.
    const held: SinkCall[] = [];
    try {
      const { stream } = await this.#result;
      this.#parts = stream.getReader();
      for (;;) {
        const { done, value } = await this.#parts.read();
        if (done || this.#isClosed) return;
        held.push(...reader.read(value));
        if (this.#body === undefined || !held.every(({ say }) => say === 'model' || say === 'ignore'))
          onChunk(chunkOf(held.splice(0)));
        if (value.type === 'raw' && last.has(fieldsOf(value.rawValue)['type'])) this.#body?.end('clean');
      }
    } catch (error) {
      // An error of the SDK about the content, because the SDK never sees a broken connection.
      if (!this.#isClosed) onChunk(chunkOf(reader.thrown(error)));
    }
  }
}

/** Returns the error for a request that the SDK rejects before sending it. */
function beforeSending(error: unknown): unknown {
  if (AgentError.is(error)) return error;
  const { name } = fieldsOf(error);
  if (name === 'AbortError') return error;
  const { message } = streamFault(error);
  return new AgentError({
    kind: 'invalid',
    code: name === 'AI_LoadAPIKeyError' ? 'no_key' : 'refused_by_sdk',
    message: `The AI SDK rejected this request: ${message}`,
  });
}

const encoder = new TextEncoder();

/** Converts a `fetch` request to one for Cobbler's transports. */
async function requestOf(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<TransportRequest> {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
  const headers = Object.fromEntries(new Headers(init?.headers));
  return { url, headers, body: [await bytesOf(init?.body)], signal };
}

async function bytesOf(body: RequestInit['body']): Promise<Uint8Array> {
  if (typeof body === 'string') return encoder.encode(body);
  return new Uint8Array(await new Response(body ?? null).arrayBuffer());
}

/** Maximum number of bytes in one line of the stream, and in the data waiting for the SDK. */
const maxLineBytes = 16 * 1024 * 1024;
const maxWaiting = 128 * 1024 * 1024;

/** Number of bytes at the end of a body that are searched for its end marker. */
const tailLength = 24;

const newline = 10;
const blankLine = new Uint8Array([newline, newline]);
const endMark = /[\r\n]data: ?\[DONE\]\s*$/;
const ascii = new TextDecoder('latin1');

/**
 * The response body as the SDK reads it. The stream always ends and never fails, because a failing stream discards
 * its queued data, but the data received before a failure must be read.
 */
class FetchBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #line = 0;
  #tail = '';

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#controller = undefined;
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxWaiting }),
    );
  }

  /**
   * Adds a chunk and ends the stream after its end marker. Returns false if a line is too long or too much data is
   * waiting for the reader.
   */
  push(bytes: Uint8Array): boolean {
    const last = bytes.lastIndexOf(newline);
    this.#line = last === -1 ? this.#line + bytes.length : bytes.length - last - 1;
    if (this.#line > maxLineBytes || (this.#controller?.desiredSize ?? 1) < 0) return false;
    this.#controller?.enqueue(bytes);
    this.#tail = (this.#tail + ascii.decode(bytes.subarray(-tailLength))).slice(-tailLength);
    if (endMark.test(this.#tail)) this.end('clean');
    return true;
  }

  /** Ends the stream. An unterminated last event is completed only if the service itself ended the stream. */
  end(how: 'clean' | 'broken' = 'broken'): void {
    if (how === 'clean') this.#controller?.enqueue(blankLine);
    this.#controller?.close();
    this.#controller = undefined;
  }
}
