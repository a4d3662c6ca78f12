import type { Endpoint, Wire } from '@cobbler/agent/provider';
import type { Thinking } from './envelope.ts';
import { cacheMarkText, writeEnvelope } from './envelope.ts';
import { readFault } from './fault.ts';
import { readEvent } from './stream-event.ts';
import { writeTurn } from './turn.ts';

/** What the wire does not know of itself. */
export interface WireSettings {
  readonly endpoint: Endpoint | (() => Promise<Endpoint>);
  readonly thinking: Thinking;
}

/** Anthropic's Messages API, always streaming. */
export function claudeWire(settings: WireSettings): Wire {
  return {
    provider: 'claude',
    framing: 'sse',
    endpoint: settings.endpoint,
    envelope: (request) => writeEnvelope(request, settings.thinking),
    turn: writeTurn,
    event: readEvent,
    fault: readFault,
    // A turn's bytes end with the last block's brace, the list's bracket and the message's brace. The turns
    // that get marked are the user's: a request that ends with the model's own turn is refused anyway.
    cacheMark: { text: cacheMarkText, back: 3 },
    rateLimitHeaders: ['anthropic-ratelimit-*', 'retry-after'],
    requestIdHeader: 'request-id',
  };
}
