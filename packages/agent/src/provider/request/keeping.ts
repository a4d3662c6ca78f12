import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';
import type { RequestTiming } from './cache-lifetime.ts';
import { after, beat, lifetimeFor } from './cache-lifetime.ts';

/** Input for choosing the cache lifetime of a request. */
export interface Keepable {
  /** Object shared by all requests with these tools, in any conversation. */
  readonly key: object;
  /** Timing of the conversation's earlier requests. */
  readonly timing: RequestTiming | undefined;
  /** Time of this request, by the wall clock, in milliseconds. */
  readonly now: number;
  /** Length of the turns, and of the envelope before them as far as it is known. */
  readonly bytes: { readonly turns: number; readonly envelope: number };
  /** False if nothing may be cached. */
  readonly wanted: boolean;
  /** True if the response cannot contain tool calls, so that another request is unlikely. */
  readonly closing: boolean;
}

/** The cache lifetimes of a request; undefined means no caching. */
export interface CacheSettings {
  readonly timing?: RequestTiming;
  /** Lifetime of the turns. */
  readonly turns?: CacheLifetime | undefined;
  /** Lifetime of the envelope before the turns. Never shorter than that of the turns, because services require it. */
  readonly envelope?: CacheLifetime | undefined;
}

/**
 * Chooses how long a service caches a request: for the turns, by the intervals between the requests of the
 * conversation; for the envelope, by those between all requests that share it.
 */
export class Keeping {
  readonly #cache: PrefixCache | undefined;
  readonly #shared = new WeakMap<object, RequestTiming>();
  readonly #isMarked: boolean;

  constructor(cache: PrefixCache | undefined) {
    this.#cache = cache;
    this.#isMarked = cache?.lifetimes.some(({ mark }) => mark !== undefined) ?? false;
  }

  of(keepable: Keepable): CacheSettings {
    const cache = this.#cache;
    if (cache === undefined) return {};
    const { key, now, bytes, wanted, closing } = keepable;
    const timing = beat(keepable.timing, now, cache);
    // A cache without marks keeps the whole request or nothing.
    if (!this.#isMarked) {
      const whole = bytes.turns + bytes.envelope;
      const lifetime = wanted ? lifetimeFor(timing, whole, cache) : undefined;
      return { timing: after(timing, whole, lifetime, cache), turns: lifetime, envelope: lifetime };
    }
    const shared = beat(this.#shared.get(key), now, cache);
    const turns = wanted && !closing ? lifetimeFor(timing, bytes.turns, cache) : undefined;
    const envelope = wanted ? longer(turns, lifetimeFor(shared, bytes.envelope, cache)) : undefined;
    this.#shared.set(key, after(shared, bytes.envelope, envelope, cache));
    return { timing: after(timing, bytes.turns, turns, cache), turns, envelope };
  }
}

function longer(
  left: CacheLifetime | undefined,
  right: CacheLifetime | undefined,
): CacheLifetime | undefined {
  return (left?.ms ?? 0) >= (right?.ms ?? 0) ? left : right;
}
