import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';
import type { RequestTiming } from './cache-lifetime.ts';
import { timingAfter } from './cache-lifetime.ts';

/** Input for choosing the cache lifetimes of a request. */
export interface Keepable {
  /** Timing of the conversation's earlier requests. */
  readonly timing: RequestTiming | undefined;
  /** Timing of all requests with these tools, in any conversation. */
  readonly shared: { timing: RequestTiming | undefined };
  /** Time of this request, by the wall clock, in milliseconds. */
  readonly now: number;
  /** Length of the turns. */
  readonly turnBytes: number;
  /** Length of the envelope before them as far as it is known. */
  readonly envelopeBytes: number;
  /** False if nothing may be cached. */
  readonly wanted: boolean;
  /** True if the response cannot contain tool calls, so that another request is unlikely. */
  readonly closing: boolean;
}

/** The cache lifetimes of a request; undefined means no caching. */
export interface CacheSettings {
  readonly timing: RequestTiming;
  /** Lifetime of the turns. */
  readonly turns: CacheLifetime | undefined;
  /** Lifetime of the envelope before the turns. Never shorter than that of the turns, because services require it. */
  readonly envelope: CacheLifetime | undefined;
}

/**
 * Chooses how long a service caches a request: for the turns, by the intervals between the requests of the
 * conversation; for the envelope, by those between all requests that share it.
 */
export class Keeping {
  readonly #cache: PrefixCache;
  /** The marks of the lifetimes, as bytes. */
  readonly marks: ReadonlyMap<CacheLifetime | undefined, Uint8Array>;
  /** Number of bytes between a mark and the end of its turn. */
  readonly markBack: number;

  constructor(cache: PrefixCache) {
    const encoder = new TextEncoder();
    this.#cache = cache;
    this.markBack = cache.markBack ?? 0;
    const marked = cache.lifetimes.filter(({ mark }) => mark !== undefined);
    this.marks = new Map(marked.map((lifetime) => [lifetime, encoder.encode(lifetime.mark)]));
  }

  of({ timing: earlier, shared, now, turnBytes, envelopeBytes, wanted, closing }: Keepable): CacheSettings {
    const cache = this.#cache;
    // A cache without marks keeps the whole request or nothing.
    if (this.marks.size === 0) {
      const timing = timingAfter(earlier, { now, bytes: turnBytes + envelopeBytes, wanted }, cache);
      return { timing, turns: timing.lifetime, envelope: timing.lifetime };
    }
    const timing = timingAfter(earlier, { now, bytes: turnBytes, wanted: wanted && !closing }, cache);
    const turns = timing.lifetime;
    shared.timing = timingAfter(shared.timing, { now, bytes: envelopeBytes, wanted, atLeast: turns }, cache);
    return { timing, turns, envelope: shared.timing.lifetime };
  }
}
