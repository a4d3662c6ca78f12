import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { AgentError } from '@cobbler/agent';
import type { RawResponse, Transport, TransportRequest } from '@cobbler/agent/provider';
import { streamFault } from '../response/fault.ts';
import { malformedResponse, ResponseReader, thrown } from '../response/response-reader.ts';
import { fieldsOf } from '../values/fields.ts';
import type { SinkPayload } from '../values/sink-call.ts';
import { isSinkCall } from '../values/sink-call.ts';
import type { OpenModel } from './model-source.ts';
import { answersLike, plainResponse, withRequestId } from './raw-response.ts';
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
export function callSdk(
  call: LanguageModelV4CallOptions,
  { open, transport, signal }: SdkConnection,
): Promise<RawResponse> {
  const head = Promise.withResolvers<RawResponse>();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    let raw: RawResponse;
    try {
      raw = await transport(await requestOf(input, init, signal));
    } catch (error) {
      head.reject(error);
      throw error;
    }
    const type = raw.header('content-type');
    if (raw.status < 200 || raw.status >= 300 || !isStream(type)) {
      head.resolve(withRequestId(raw));
      throw new Error('The SDK cannot convert the response.');
    }
    const body = fetchBody();
    head.resolve(sdkResponse(raw, result, body));
    return new Response(body.stream, { headers: { 'content-type': type ?? 'text/event-stream' } });
  };
  // A skipped event still counts as activity, and the last event is recognized only in its raw form.
  const options = { ...call, abortSignal: signal, includeRawChunks: true };
  const result = (async () => await open({ fetch, call }).doStream(options))();
  result.then(
    (made) => head.resolve(sdkResponse(plainResponse(200, made.response?.headers), result)),
    (error: unknown) => {
      const answer = answersLike(error);
      if (answer === undefined) head.reject(beforeSending(error));
      else head.resolve(answer);
    },
  );
  return head.promise;
}

/** Final events of streams, after which some services leave the connection open. */
const last = /^(message_stop|response\.(completed|incomplete|failed))$/;

const tooLarge = malformedResponse('one event of the stream is too large.');

function sdkResponse(
  raw: RawResponse,
  result: Promise<LanguageModelV4StreamResult>,
  body?: FetchBody,
): RawResponse {
  let parts: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  let isClosed = false;

  const check = raw.header('content-type')?.startsWith('text/event-stream') ? lineCheck() : undefined;

  /** Passes the bytes to the SDK. Each chunk counts as activity, even if the SDK ignores it. */
  const pump = async (to: FetchBody, onChunk: (bytes: Uint8Array) => void) => {
    try {
      await raw.read((bytes) => {
        if (isClosed || bytes.length === 0) return;
        const problem = check?.(bytes);
        if (problem !== undefined) onChunk(chunkOf([malformedResponse(problem)]));
        onChunk(chunkOf(to.push(bytes) ? [] : [tooLarge]));
      });
      to.end('clean');
    } finally {
      to.end();
    }
  };

  const readParts = async (onChunk: (bytes: Uint8Array) => void) => {
    const reader = new ResponseReader();
    // Parts may arrive long after their bytes, which already counted as activity: parts alone do not count.
    const held: SinkPayload[] = [];
    try {
      parts = (await result).stream.getReader();
      for (;;) {
        const { done, value } = await parts.read();
        if (done || isClosed) return;
        held.push(...reader.read(value));
        if (body === undefined || !held.every((one) => isSinkCall(one) && /model|ignore/.test(one[0])))
          onChunk(chunkOf(held.splice(0)));
        if (value.type === 'raw' && last.test(String(fieldsOf(value.rawValue)['type']))) body?.end('clean');
      }
    } catch (error) {
      // An error of the SDK about the content, because the SDK never sees a broken connection.
      if (!isClosed) onChunk(chunkOf([thrown(error)]));
    }
  };

  return {
    ...withRequestId(raw),
    async read(onChunk) {
      const pumped = body && pump(body, onChunk);
      // A broken connection is reported only after everything that arrived before.
      pumped?.catch(() => {});
      await readParts(onChunk);
      await pumped;
    },
    close() {
      isClosed = true;
      raw.close();
      body?.end();
      parts?.cancel().catch(() => {});
    },
  };
}

/** Returns the error for a request that the SDK rejects before sending it. */
function beforeSending(error: unknown): unknown {
  const { name } = fieldsOf(error);
  if (AgentError.is(error) || name === 'AbortError') return error;
  return new AgentError({
    kind: 'invalid',
    code: name === 'AI_LoadAPIKeyError' ? 'no_key' : 'refused_by_sdk',
    message: `The AI SDK rejected this request: ${streamFault(error).message}`,
  });
}

/** Converts a `fetch` request to one for Cobbler's transports. */
async function requestOf(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<TransportRequest> {
  const url = input instanceof Request ? input.url : String(input);
  const headers = Object.fromEntries(new Headers(init?.headers));
  const body = await new Response(init?.body).arrayBuffer();
  return { url, headers, body: [new Uint8Array(body)], signal };
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

interface FetchBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Adds a chunk and ends the stream after its end marker. Returns false if a line is too long or too much is waiting. */
  push(bytes: Uint8Array): boolean;
  /** Ends the stream. An unterminated last event is completed only if the service itself ended the stream. */
  end(how?: 'clean'): void;
}

/** Creates a response body. Its stream ends and never fails, because failing would discard data that must be read. */
function fetchBody(): FetchBody {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let line = 0;
  let tail = '';
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      cancel: () => {
        controller = undefined;
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxWaiting }),
  );
  const end = (how?: 'clean') => {
    if (how === 'clean') controller?.enqueue(blankLine);
    controller?.close();
    controller = undefined;
  };
  const push = (bytes: Uint8Array) => {
    const at = bytes.lastIndexOf(newline);
    line = at === -1 ? line + bytes.length : bytes.length - at - 1;
    if (line > maxLineBytes || (controller?.desiredSize ?? 1) < 0) return false;
    controller?.enqueue(bytes);
    tail = (tail + ascii.decode(bytes.subarray(-tailLength))).slice(-tailLength);
    if (endMark.test(tail)) end('clean');
    return true;
  };
  return { stream, push, end };
}

/** Matches the start of a line of server-sent events. */
const field = /^($|:|(data|event|id|retry)(:|$))/;

/** Number of characters of an incomplete line that are kept, enough for its name and the word `error`. */
const kept = 16;

/**
 * Returns a check of the bytes of one event stream, which returns what is wrong with them: characters that are not
 * UTF-8, lines that are not fields, errors without data. The SDK replaces the first and skips the others.
 */
function lineCheck(): (bytes: Uint8Array) => string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let isError = false;
  const isWrong = (line: string) => {
    const isSilent = isError && line === '';
    if (/^(event|data)(:|$)/.test(line)) isError = /^event: ?error$/.test(line);
    return isSilent || !field.test(line);
  };
  return (bytes) => {
    let text: string;
    try {
      text = decoder.decode(bytes, { stream: true });
    } catch {
      return 'it is not UTF-8';
    }
    const lines = (rest + text).split(/\r\n|[\r\n]/);
    rest = (lines.pop() ?? '').slice(0, kept);
    return lines.some(isWrong)
      ? 'it contains an error without data, or a line that is not a field'
      : undefined;
  };
}
