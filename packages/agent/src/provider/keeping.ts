import type { Rhythm } from './rhythm.ts';
import { beat, lifetimeFor } from './rhythm.ts';
import type { CacheLifetime, PrefixCache } from './wire.ts';

/** What decides how long a request is worth keeping. */
export interface Keepable {
  /** The same for all requests with these tools and instructions, whatever the conversation. */
  readonly key: object;
  /** Of the conversation's requests before this one. */
  readonly rhythm: Rhythm | undefined;
  /** When this request is made, by the wall clock, in milliseconds. */
  readonly now: number;
  /** False: nothing is to be written. */
  readonly wanted: boolean;
  /** No answer can ask for calls any more, so that nothing is likely to follow. */
  readonly closing: boolean;
}

/** How long the service is to keep a request. Absent: not at all. */
export interface Kept {
  readonly rhythm: Rhythm | undefined;
  /** For the turns. */
  readonly turns: CacheLifetime | undefined;
  /** For what stands before the turns. Never shorter than the turns', as services demand. */
  readonly envelope: CacheLifetime | undefined;
}

const nothing: Kept = { rhythm: undefined, turns: undefined, envelope: undefined };

/**
 * Decides how long a service is to keep what it is sent, by the pauses between the requests of a conversation,
 * and for what stands before the turns by those between all requests that share it.
 */
export class Keeping {
  readonly #cache: PrefixCache | undefined;
  readonly #shared = new WeakMap<object, Rhythm>();
  readonly #isMarked: boolean;

  constructor(cache: PrefixCache | undefined) {
    this.#cache = cache;
    this.#isMarked = cache?.lifetimes.some(({ mark }) => mark !== undefined) ?? false;
  }

  of({ key, rhythm: before, now, wanted, closing }: Keepable): Kept {
    const cache = this.#cache;
    if (cache === undefined) return nothing;
    const rhythm = beat(before, now, cache);
    const shared = beat(this.#shared.get(key), now, cache);
    this.#shared.set(key, shared);
    if (!wanted) return { ...nothing, rhythm };
    const turns = lifetimeFor(rhythm, cache);
    // A cache without marks keeps a request as a whole or not at all, and not to write is not to read.
    if (!this.#isMarked) return { rhythm, turns, envelope: turns };
    const envelope = longer(closing ? undefined : turns, lifetimeFor(shared, cache));
    return { rhythm, turns: closing ? undefined : turns, envelope };
  }
}

function longer(
  left: CacheLifetime | undefined,
  right: CacheLifetime | undefined,
): CacheLifetime | undefined {
  return (left?.ms ?? 0) >= (right?.ms ?? 0) ? left : right;
}
