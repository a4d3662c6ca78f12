import type { Endpoint, Wire } from '@cobbler/agent/provider';
import type { Thinking } from './envelope.ts';
import { claudeCache, writeEnvelope } from './envelope.ts';
import { readFault } from './fault.ts';
import { refusedMedia } from './media.ts';
import { readEvent } from './stream-event.ts';
import { writeTurn } from './turn.ts';

/** Settings from outside the wire. */
export interface ClaudeWireSettings {
  readonly endpoint: Endpoint | (() => Promise<Endpoint>);
  readonly thinking: Thinking;
}

/** Anthropic's Messages API, always streaming. */
export function claudeWire(settings: ClaudeWireSettings): Wire {
  return {
    provider: 'claude',
    framing: 'sse',
    endpoint: settings.endpoint,
    envelope: (request) => writeEnvelope(request, settings.thinking),
    turn: writeTurn,
    event: readEvent,
    fault: readFault,
    refuses: refusedMedia,
    cache: claudeCache,
    rateLimitHeaders: ['anthropic-ratelimit-*', 'retry-after'],
    requestIdHeader: 'request-id',
  };
}
