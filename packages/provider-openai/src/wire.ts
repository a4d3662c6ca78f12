import type { Envelope, Wire, WireRequest } from '@cobbler/agent/provider';
import { cacheOf } from './cache-fields.ts';
import type { OpenAIAddress } from './endpoint.ts';
import { endpointOf } from './endpoint.ts';
import { faultOf } from './fault.ts';
import { refusedFile } from './media.ts';
import { providerName } from './models.ts';

/** Creates the wire of one API at an address, from what differs between the APIs. */
export function openaiWire(
  address: OpenAIAddress,
  model: string,
  path: string,
  api: Pick<Wire, 'turn' | 'event' | 'ignored'> & { envelope(request: WireRequest): Envelope },
): Wire {
  return {
    provider: providerName,
    framing: 'sse',
    endpoint: () => endpointOf(address, path),
    ...api,
    fault: faultOf,
    // The formats that other servers accept are unknown.
    ...(address.official && { refuses: refusedFile }),
    ...cacheOf(address, model),
    // The limits that remain to the account; the last two contain the delay before a retry.
    rateLimitHeaders: ['x-ratelimit-*', 'retry-after', 'retry-after-ms'],
    // OpenAI's id of a request, which its support asks for.
    requestIdHeader: 'x-request-id',
  };
}
