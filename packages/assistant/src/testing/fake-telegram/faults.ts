import type { Runtime } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { amount, oneOf, record } from '@cobbler/agent/input';
import { Refused } from './refused.ts';

/**
 * A fault of a call. Before it is accepted: `limit`, `blocked`, `gone`, `migrated`, `unauthorized`, `error` and
 * `unavailable` (status 500 and 503), `restart` (500 during a shutdown), `refused` (no connection), `cut` (the
 * connection breaks), `hang` (no response), `markup` (the markup is rejected). After it: `lost` (the connection
 * breaks), `mute` (no response), `garbled` (an invalid response), `gateway` (a page with 502). `slow` only delays it.
 */
export type FakeFault =
  | { readonly type: 'limit'; readonly retryAfter: number }
  | { readonly type: 'slow'; readonly ms: number }
  | {
      readonly type:
        | 'blocked'
        | 'gone'
        | 'migrated'
        | 'unauthorized'
        | 'error'
        | 'unavailable'
        | 'restart'
        | 'refused'
        | 'cut'
        | 'hang'
        | 'markup'
        | 'lost'
        | 'mute'
        | 'garbled'
        | 'gateway';
    };

/** Reads a fault. */
export const readFault: Reader<FakeFault> = record<Record<'type' | 'retryAfter' | 'ms', unknown>>(
  {
    type: oneOf(
      ...(['limit', 'slow', 'blocked', 'gone', 'migrated', 'unauthorized', 'error', 'unavailable'] as const),
      ...(['restart', 'refused', 'cut', 'hang', 'markup', 'lost', 'mute', 'garbled', 'gateway'] as const),
    ),
    retryAfter: amount,
    ms: amount,
  },
  ['type'],
) as Reader<FakeFault>;

/** A broken connection, as Node's fetch reports it. */
export class BrokenConnection extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the connection broke: ${code}`);
    this.name = 'BrokenConnection';
    this.code = code;
  }
}

/** Applies a fault that occurs before a call. */
export async function beforeCall(
  fault: FakeFault | undefined,
  runtime: Runtime,
  left: AbortSignal,
): Promise<void> {
  switch (fault?.type) {
    case 'limit':
      throw new Refused(429, `Too Many Requests: retry after ${fault.retryAfter}`, {
        retry_after: fault.retryAfter,
      });
    case 'blocked':
      throw new Refused(403, 'Forbidden: bot was blocked by the user');
    case 'gone':
      throw new Refused(400, 'Bad Request: chat not found');
    case 'migrated':
      throw new Refused(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: -1_001_234_567_890,
      });
    case 'unauthorized':
      throw new Refused(401, 'Unauthorized');
    case 'error':
      throw new Refused(500, 'Internal Server Error');
    case 'unavailable':
      throw new Refused(503, 'Service Unavailable');
    case 'restart':
      throw new Refused(500, 'Internal Server Error: restart');
    case 'markup':
      throw new Refused(
        400,
        'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0',
      );
    case 'refused':
      throw new BrokenConnection('ECONNREFUSED');
    case 'cut':
      throw new BrokenConnection('ECONNRESET');
    case 'hang':
      return await untilLeft(left);
    case 'slow':
      return await new Promise((resolve) => void runtime.timer(fault.ms, resolve));
    default:
  }
}

/** Applies a fault to the response of a completed call. */
export async function afterCall(
  fault: FakeFault | undefined,
  answer: Response,
  left: AbortSignal,
): Promise<Response> {
  switch (fault?.type) {
    case 'lost':
      throw new BrokenConnection('ECONNRESET');
    case 'mute':
      await untilLeft(left);
      return answer;
    case 'garbled':
      return new Response('{"ok":true,"resu', { headers: { 'content-type': 'application/json' } });
    case 'gateway':
      return new Response('<html><h1>502 Bad Gateway</h1></html>', {
        status: 502,
        headers: { 'content-type': 'text/html' },
      });
    default:
      return answer;
  }
}

async function untilLeft(left: AbortSignal): Promise<void> {
  if (!left.aborted)
    await new Promise<void>((resolve) => left.addEventListener('abort', () => resolve(), { once: true }));
  throw new BrokenConnection('ECONNRESET');
}
