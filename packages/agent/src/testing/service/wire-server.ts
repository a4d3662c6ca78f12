import { defined } from '../../values/defined.ts';
import type { MockReply } from './play.ts';
import { errorResponse, serveReply } from './player.ts';
import type { ProviderTesting, ReadRequest, WireError } from './provider-testing.ts';

/** Answers HTTP requests; what msw, a loopback port and an in-memory transport all can call. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** What a service answers: plays in order, or a function that reacts to what it was asked. */
export type WireScript =
  | readonly MockReply[]
  | ((request: ReadRequest, index: number) => MockReply | Promise<MockReply>);

/** One request that came in. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** The body as it was sent. */
  readonly text: string;
  /** The body in neutral words; absent when it could not be read. */
  readonly request?: ReadRequest;
  /** Why the body could not be read or was refused: the provider's mistake, whatever the play. */
  readonly complaint?: string;
  /** Resolves when the client has left before the answer was over. */
  readonly left: Promise<void>;
}

/** A service that plays a script and keeps what it was asked. */
export interface WireServer {
  readonly handler: Handler;
  readonly exchanges: readonly Exchange[];
  /** Resolves with the exchange of this index once it has come in. */
  arrival(index: number): Promise<Exchange>;
}

/** What a `wireServer` knows of its clients. */
export interface WireServerOptions {
  /** The key that clients use; a service that refuses it may repeat it. Default: none known. */
  readonly secret?: string;
}

/**
 * Plays a script as the service that `testing` describes. A request that the real service would refuse is
 * refused with its words and uses up no play; a script that is over answers 400 and says so.
 */
export function wireServer(
  testing: ProviderTesting,
  script: WireScript,
  options: WireServerOptions = {},
): WireServer {
  const exchanges: Exchange[] = [];
  const waiting = new Map<number, PromiseWithResolvers<Exchange>>();
  // A Request follows the signal it was made with only as long as it is reachable itself.
  const reachable: Request[] = [];
  let played = 0;
  const next = async (request: ReadRequest): Promise<MockReply> => {
    const index = played++;
    return (typeof script === 'function' ? await script(request, index) : script[index]) ?? scriptIsOver;
  };
  const handler: Handler = async (request) => {
    reachable.push(request);
    const text = await request.text();
    const { read, refusal, complaint } = examine(testing, text);
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
  body: 'The script of this server is over: one more request came than it has answers.',
};

interface Examined {
  readonly read?: ReadRequest;
  readonly refusal?: WireError;
  readonly complaint?: string;
}

function examine(testing: ProviderTesting, text: string): Examined {
  try {
    const body: unknown = JSON.parse(text);
    const refusal = testing.refuse(body);
    if (refusal !== undefined)
      return { refusal, complaint: `refused with ${refusal.status}: ${refusal.body}` };
    return { read: testing.read(body) };
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
