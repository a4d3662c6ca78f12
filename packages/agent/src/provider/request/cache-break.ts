import type { CacheBreak } from '../../interfaces/agent.ts';
import type { RequestTiming } from './cache-lifetime.ts';
import { instructions, isSameList, specsOf } from './envelope-bytes.ts';
import type { EnvelopeRequest } from './request-defaults.ts';

/** Estimated number of bytes per token; only the service knows the exact count. */
const bytesPerToken = 4;

/** The last request of a conversation. */
export interface SentRequest {
  readonly envelope: EnvelopeRequest;
  /** Length of its turns in bytes. */
  readonly bytes: number;
  readonly timing: RequestTiming | undefined;
}

/** The point at which a history differs from the one sent before. */
export interface Departure {
  /** Index of the first message that differs. */
  readonly message: number;
  /** Number of bytes of turns sent after that point. */
  readonly bytes: number;
}

/**
 * Returns the first difference between a request and the previous one that makes the service's cache useless, or
 * undefined if the request only adds to it. Services read tools first, then instructions, then turns.
 */
export function cacheBreak(
  before: SentRequest,
  envelope: EnvelopeRequest,
  departure: Departure | undefined,
): CacheBreak | undefined {
  if (before.envelope !== envelope) {
    const system = [instructions(before.envelope.system), instructions(envelope.system)] as const;
    const tools = declared(before.envelope, envelope);
    const after = before.bytes + lengthFrom(system[0], 0);
    if (tools !== undefined) return broken('tools', tools, after);
    if (!isSameList(...system)) return broken('system', system, before.bytes);
  }
  if (departure === undefined) return undefined;
  return {
    type: 'cache_break',
    layer: 'history',
    block: departure.message,
    tokens: Math.ceil(departure.bytes / bytesPerToken),
  };
}

/** Returns both lists of tools as JSON if they differ. Most requests share the same tool objects. */
function declared(
  before: EnvelopeRequest,
  now: EnvelopeRequest,
): readonly [readonly string[], readonly string[]] | undefined {
  if (isSameList(before.tools, now.tools)) return undefined;
  const [was, is] = [before, now].map(({ tools }) => specsOf(tools).map((spec) => JSON.stringify(spec)));
  return isSameList(was ?? [], is ?? []) ? undefined : [was ?? [], is ?? []];
}

function broken(
  layer: 'tools' | 'system',
  [was, is]: readonly [readonly string[], readonly string[]],
  bytesAfter: number,
): CacheBreak {
  let block = 0;
  while (was[block] === is[block]) block += 1;
  const tokens = Math.ceil((lengthFrom(was, block) + bytesAfter) / bytesPerToken);
  return { type: 'cache_break', layer, block, tokens };
}

function lengthFrom(texts: readonly string[], from: number): number {
  return texts.slice(from).reduce((sum, { length }) => sum + length, 0);
}
