import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';
import type { RequestTiming } from './cache-lifetime.ts';
import { after, beat, lifetimeFor } from './cache-lifetime.ts';

/** What decides how long a request is worth keeping. */
export interface Keepable {
  /** The same for all requests with these tools, whatever the conversation. */
  readonly key: object;
  /** Of the conversation's requests before this one. */
  readonly rhythm: RequestTiming | undefined;
  /** When this request is made, by the wall clock, in milliseconds. */
  readonly now: number;
  /** Length of the turns, and of what stands before them as far as it is known yet. */
  readonly bytes: { readonly turns: number; readonly envelope: number };
  /** False: nothing is to be written. */
  readonly wanted: boolean;
  /** No answer can ask for calls any more, so that nothing is likely to follow. */
  readonly closing: boolean;
}

/** How long the service is to keep a request. Absent: not at all. */
export interface CacheSettings {
  readonly rhythm?: RequestTiming;
  /** For the turns. */
  readonly turns?: CacheLifetime | undefined;
  /** For what stands before the turns. Never shorter than the turns', as services demand. */
  readonly envelope?: CacheLifetime | undefined;
}

/**
 * Decides how long a service is to keep what it is sent, by the pauses between the requests of a conversation,
 * and for what stands before the turns by those between all requests that share it.
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
    const rhythm = beat(keepable.rhythm, now, cache);
    // A cache without marks keeps a request as a whole or not at all.
    if (!this.#isMarked) {
      const whole = bytes.turns + bytes.envelope;
      const lifetime = wanted ? lifetimeFor(rhythm, whole, cache) : undefined;
      return { rhythm: after(rhythm, whole, lifetime, cache), turns: lifetime, envelope: lifetime };
    }
    const shared = beat(this.#shared.get(key), now, cache);
    const turns = wanted && !closing ? lifetimeFor(rhythm, bytes.turns, cache) : undefined;
    const envelope = wanted ? longer(turns, lifetimeFor(shared, bytes.envelope, cache)) : undefined;
    this.#shared.set(key, after(shared, bytes.envelope, envelope, cache));
    return { rhythm: after(rhythm, bytes.turns, turns, cache), turns, envelope };
  }
}

function longer(
  left: CacheLifetime | undefined,
  right: CacheLifetime | undefined,
): CacheLifetime | undefined {
  return (left?.ms ?? 0) >= (right?.ms ?? 0) ? left : right;
}
