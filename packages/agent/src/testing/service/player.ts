import { chunksOf, joinFrames } from './chunking.ts';
import type { Ending, MockReply, RawReply, ResponseReply } from './play.ts';
import type { Frame, ProviderTesting, Step, WireError } from './provider-testing.ts';
import { responseSteps } from './script.ts';

/** The context of a mock reply. */
export interface ReplyContext {
  readonly testing: ProviderTesting;
  /** The key of the request; a service that refuses it may repeat it. */
  readonly secret: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Converts a mock reply to an HTTP response. A lost connection is a rejection before the head and an error of the body
 * after it; {@link serveLoopback} then destroys the socket.
 */
export async function serveReply(
  reply: MockReply,
  { testing, secret, signal }: ReplyContext,
): Promise<Response> {
  switch (reply.type) {
    case 'answer':
      return new Response(bodyOf(answerChunks(reply, testing), reply.ending ?? 'end'), {
        headers: { ...headOf(testing), ...reply.headers },
      });
    case 'fault':
      return errorResponse(testing.error(reply.fault, secret), reply.headers);
    case 'raw':
      return new Response(mayHaveBody(reply) ? bodyOf(rawChunks(reply), reply.ending ?? 'end') : null, {
        status: reply.status,
        headers: { ...reply.headers },
      });
    case 'live':
      return new Response(reply.stream.body, { status: reply.status ?? 200, headers: headOf(testing) });
    case 'silent':
      await aborted(signal);
      throw new Error('The client disconnected before there was a response.');
    case 'hang_up':
      throw new Error('The connection was lost before there was a response.');
  }
}

/** Returns an error response. */
export function errorResponse(error: WireError, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(error.body, { status: error.status, headers: { ...error.headers, ...headers } });
}

/** Returns the bytes of the frames of a response in order, before they are split into chunks. */
export function framesOf(reply: ResponseReply, testing: ProviderTesting): Uint8Array[] {
  const original = payloadsOf(reply, testing);
  const edited = reply.edit === undefined ? original : reply.edit(original);
  const payloads = reply.noise === true ? withNoise(edited, testing) : edited;
  const frames = payloads.map((payload) => testing.frame(payload));
  if (reply.torn !== undefined) frames.push(...tornFrame(reply.torn, reply, testing));
  const { rewrite = (frame) => frame } = reply;
  return frames.map((frame, index) => joinFrames([rewrite(frame, index, payloads[index])]));
}

/** Returns the bytes of single steps, for a response that a test writes step by step. */
export function stepFrames(
  steps: readonly Step[],
  reply: ResponseReply,
  testing: ProviderTesting,
): Uint8Array {
  return framed(
    steps.flatMap((step) => testing.line(step, reply.answer)),
    testing,
  );
}

/** Returns the bytes of payloads that the service sends one after another. */
export function framed(payloads: readonly unknown[], testing: Pick<ProviderTesting, 'frame'>): Uint8Array {
  return joinFrames(payloads.map((payload) => testing.frame(payload)));
}

function payloadsOf(reply: ResponseReply, testing: ProviderTesting): readonly unknown[] {
  const steps = reply.steps ?? responseSteps(reply.answer);
  return [
    ...testing.begin(reply.answer),
    ...steps.flatMap((step) => testing.line(step, reply.answer)),
    ...(reply.fault === undefined ? [] : testing.fail(reply.fault)),
  ];
}

/** Returns the first half of a frame, which cuts the JSON in the middle. */
function tornFrame(step: Step, reply: ResponseReply, testing: ProviderTesting): Frame[] {
  const [payload] = testing.line(step, reply.answer);
  if (payload === undefined) return [];
  const frame = testing.frame(payload);
  return [frame.slice(0, Math.ceil(frame.length / 2))];
}

function withNoise(payloads: readonly unknown[], testing: ProviderTesting): unknown[] {
  const noise = testing.noise();
  let next = 0;
  const some = () => (noise.length === 0 ? [] : [noise[next++ % noise.length]]);
  return [...payloads.flatMap((payload) => [...some(), payload]), ...some()];
}

function headOf(testing: ProviderTesting): Record<string, string> {
  return { ...testing.head?.headers, 'content-type': testing.contentType };
}

function answerChunks(reply: ResponseReply, testing: ProviderTesting): Uint8Array[] {
  return chunksOf(framesOf(reply, testing), reply.chunks ?? 'payload');
}

/** Returns false if the reply has no body and its status forbids one, even an empty one. */
function mayHaveBody({ status, body }: RawReply): boolean {
  return body !== undefined || (status !== 204 && status !== 205 && status !== 304);
}

function* rawChunks(reply: RawReply): Iterable<Uint8Array> {
  const { body = [] } = reply;
  for (const chunk of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
    // An empty chunk would end an HTTP body too early.
    if (chunk.length > 0) yield joinFrames([chunk]);
  }
}

/**
 * Creates a stream that reads one chunk per pull without a queue: an error discards queued chunks, but every byte
 * before a lost connection must arrive.
 */
function bodyOf(chunks: Iterable<Uint8Array>, ending: Ending): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = iterator.next();
        if (next.done !== true) controller.enqueue(next.value);
        else if (ending === 'end') controller.close();
        else if (ending === 'reset') controller.error(new Error('The connection was lost.'));
        else return new Promise<void>(() => {});
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
