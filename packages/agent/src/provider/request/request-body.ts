import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';
import type { TurnBytes } from './conversation-bytes.ts';
import type { EnvelopeBytes } from './envelope-bytes.ts';

/** What marks the end of a cacheable prefix, and how far before the end of its turn it stands. */
export interface CacheMark {
  readonly bytes: Uint8Array;
  readonly back: number;
}

const encoder = new TextEncoder();

/** The mark for a lifetime as bytes; nothing when the service finds the prefix by itself. */
export function markOf(
  cache: PrefixCache | undefined,
  lifetime: CacheLifetime | undefined,
): CacheMark | undefined {
  if (lifetime?.mark === undefined) return undefined;
  return { bytes: encoder.encode(lifetime.mark), back: cache?.markBack ?? 0 };
}

/** A request's body as byte ranges: the marks stand between ranges of the turns, whose bytes stay as they are. */
export function bodyOf(envelope: EnvelopeBytes, turns: TurnBytes, mark: CacheMark | undefined): Uint8Array[] {
  const body = [envelope.head];
  let from = 0;
  if (mark !== undefined) {
    for (const end of turns.marks) {
      const place = end - mark.back;
      body.push(turns.bytes.subarray(from, place), mark.bytes);
      from = place;
    }
  }
  body.push(turns.bytes.subarray(from), envelope.tail);
  return body;
}
