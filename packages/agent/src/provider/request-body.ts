import type { EnvelopeBytes } from './envelope-bytes.ts';
import type { TurnBytes } from './history-bytes.ts';
import type { Wire } from './wire.ts';

/** What marks the end of a cacheable prefix, and how far before the end of its turn it stands. */
export interface CacheMark {
  readonly bytes: Uint8Array;
  readonly back: number;
}

/** The mark of a wire as bytes; nothing when its service finds the prefix by itself. */
export function cacheMarkOf({ cacheMark }: Wire): CacheMark | undefined {
  return cacheMark && { bytes: new TextEncoder().encode(cacheMark.text), back: cacheMark.back };
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
