import { defined } from '../../values/defined.ts';
import type { MockReply } from './play.ts';
import { errorResponse, serveReply } from './player.ts';
import type { ProviderTesting, ReadRequest, SentRequest, WireError } from './provider-testing.ts';
import { breachOf, modelIn } from './request-rules.ts';

/** Handles HTTP requests; msw, a loopback port and an in-memory transport can all call it. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** The replies of a mock service: in order, or a function of the request. */
export type WireScript =
  | readonly MockReply[]
  | ((request: ReadRequest, index: number) => MockReply | Promise<MockReply>);

/** One received request. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** The body of the request. */
  readonly text: string;
  /** The parsed body; undefined if it could not be parsed. */
  readonly request?: ReadRequest;
  /**
   * The reason why the request was refused or could not be parsed: an error of the provider, whatever the reply.
   * Undefined for an expired key.
   */
  readonly complaint?: string;
  /** Resolves if the client disconnects before the response ends. */
  readonly left: Promise<void>;
}

/** A mock service that plays a script and records the requests it receives. */
export interface WireServer {
  readonly handler: Handler;
  readonly exchanges: readonly Exchange[];
  /** Resolves with the exchange of this index when its request arrives. */
  arrival(index: number): Promise<Exchange>;
}

/** Options of {@link wireServer}. */
export interface WireServerOptions {
  /**
   * The key that clients use; a service that rejects it may repeat it. Of a list, which may grow, the last key is valid
   * and the ones before it have expired. Default: keys are not checked.
   */
  readonly secret?: string | readonly string[];
}

/**
 * Plays a script as the service that `testing` describes. A request that the real service would refuse gets the error
 * of that service and uses no reply; after the end of the script, requests get status 400 with an explanation.
 */
export function wireServer(
  testing: ProviderTesting,
  script: WireScript,
  { secret = [] }: WireServerOptions = {},
): WireServer {
  const exchanges: Exchange[] = [];
  const waiting = new Map<number, PromiseWithResolvers<Exchange>>();
  // A Request follows its signal only while the Request itself is reachable.
  const reachable: Request[] = [];
  let replyCount = 0;
  const next = async (request: ReadRequest): Promise<MockReply> => {
    const index = replyCount++;
    return (typeof script === 'function' ? await script(request, index) : script[index]) ?? scriptIsOver;
  };
  const handler: Handler = async (request) => {
    reachable.push(request);
    const text = await request.text();
    const { url, method, headers } = request;
    const sent = { url, method, headers, body: text };
    const keys = typeof secret === 'string' ? [secret] : secret;
    const { read, refusal, complaint } = examine(testing, sent, keys);
    const exchange: Exchange = {
      ...{ url, method, headers, text },
      ...defined({ request: read, complaint }),
      left: whenAborted(request.signal),
    };
    exchanges.push(exchange);
    waiting.get(exchanges.length - 1)?.resolve(exchange);
    if (refusal !== undefined) return errorResponse(refusal);
    if (read === undefined) return new Response(complaint ?? '', { status: 400 });
    return serveReply(await next(read), { testing, secret: keys.at(-1) ?? '', signal: request.signal });
  };
  return {
    handler,
    exchanges,
    arrival(index) {
      const known = exchanges[index];
      if (known !== undefined) return Promise.resolve(known);
      const waiter = waiting.get(index) ?? Promise.withResolvers<Exchange>();
      waiting.set(index, waiter);
      return waiter.promise;
    },
  };
}

const scriptIsOver: MockReply = {
  type: 'raw',
  status: 400,
  headers: { 'content-type': 'text/plain' },
  body: 'The script of this server has no more replies.',
};

interface ExaminedRequest {
  readonly read?: ReadRequest;
  readonly refusal?: WireError;
  readonly complaint?: string;
}

function examine(testing: ProviderTesting, sent: SentRequest, keys: readonly string[]): ExaminedRequest {
  const breach = breachOf(testing.request, sent, keys);
  if (breach !== undefined) {
    const { fault, status, key = '', isExpired } = breach;
    const error = testing.error(fault, key);
    const refusal = { ...error, status: status ?? error.status };
    return { refusal, ...(isExpired !== true && { complaint: refusedWith(refusal) }) };
  }
  try {
    const body: unknown = JSON.parse(sent.body);
    const refusal = testing.refuse(body, sent.url);
    if (refusal !== undefined) return { refusal, complaint: refusedWith(refusal) };
    const read = testing.read(body);
    const model = modelIn(testing.request.path, new URL(sent.url).pathname);
    return { read: model ? { ...read, model } : read };
  } catch (error) {
    return {
      complaint: `the body cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function refusedWith({ status, body }: WireError): string {
  return `refused with ${status}: ${body}`;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
