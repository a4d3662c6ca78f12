import { defined } from '../../values/defined.ts';
import type { MockReply } from './play.ts';
import { errorResponse, serveReply } from './player.ts';
import type { ProviderTesting, ReadRequest, WireError } from './provider-testing.ts';

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
  /** The reason why the body could not be parsed or was refused: an error of the provider, whatever the reply. */
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
  /** The key that clients use; a service that refuses it may repeat it. Default: none. */
  readonly secret?: string;
}

/**
 * Plays a script as the service that `testing` describes. A request that the real service would refuse gets the error
 * of that service and uses no reply; after the end of the script, requests get status 400 with an explanation.
 */
export function wireServer(
  testing: ProviderTesting,
  script: WireScript,
  options: WireServerOptions = {},
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
    const { read, refusal, complaint } = examine(testing, text, request.url);
    const exchange: Exchange = {
      url: request.url,
      method: request.method,
      headers: request.headers,
      text,
      ...defined({ request: read, complaint }),
      left: whenAborted(request.signal),
    };
    exchanges.push(exchange);
    waiting.get(exchanges.length - 1)?.resolve(exchange);
    if (refusal !== undefined) return errorResponse(refusal);
    if (read === undefined) return new Response(complaint ?? '', { status: 400 });
    return serveReply(await next(read), { testing, secret: options.secret ?? '', signal: request.signal });
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

function examine(testing: ProviderTesting, text: string, url: string): ExaminedRequest {
  try {
    const body: unknown = JSON.parse(text);
    const refusal = testing.refuse(body, url);
    if (refusal !== undefined)
      return { refusal, complaint: `refused with ${refusal.status}: ${refusal.body}` };
    return { read: testing.read(body, url) };
  } catch (error) {
    return {
      complaint: `the body cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
