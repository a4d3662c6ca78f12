import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';

/** The timing of requests with a common prefix, and the cost of caching it so far. Each request updates it in place. */
export interface RequestTiming {
  /** Time of the latest request, by the wall clock, in milliseconds. */
  at: number;
  requests: number;
  /** For each cache lifetime, the share of intervals between requests that were longer, weighted toward recent ones. */
  readonly outlasted: number[];
  /** Total bytes of all requests. */
  sent: number;
  /** Estimated cost of those requests, in bytes at the price of uncached input. */
  paid: number;
  /** Number of bytes that the service still caches, and until when. */
  kept: number;
  until: number;
  /** The lifetime of the latest request; undefined if it is not cached. */
  lifetime: CacheLifetime | undefined;
}

/** A request whose cache lifetime is chosen. */
export interface TimedRequest {
  /** Time of the request, by the wall clock, in milliseconds. */
  readonly now: number;
  readonly bytes: number;
  /** False if nothing may be cached. */
  readonly wanted: boolean;
  /** The lifetime that the chosen one may not be shorter than. */
  readonly atLeast?: CacheLifetime | undefined;
}

/** Returns a copy, for requests that start like earlier ones and continue differently. */
export function copyOf(timing: RequestTiming | undefined): RequestTiming | undefined {
  return timing && { ...timing, outlasted: [...timing.outlasted] };
}

/**
 * Maximum total cost of requests with a common prefix, as a multiple of uncached input. It lets the first request use
 * the cheapest lifetime, because a second one may never come. A longer lifetime requires earlier savings, because it is
 * wasted if it is never used.
 */
export const maxPaid = 1.35;

/** Minimum weight of one interval in the average, because usage patterns change. */
const minWeight = 0.1;

/**
 * Updates the timing by a request, and returns it with the cache lifetime of that request: the affordable one with the
 * highest expected savings, or undefined if writing would cost more than it saves.
 *
 * Every request reads a cached token until an interval exceeds its lifetime; then the token must be written again. The
 * number of future requests is unknown; the estimate is as many as there were so far. A request without caching does not
 * read the cache either.
 */
export function timingAfter(
  earlier: RequestTiming | undefined,
  { now, bytes, wanted, atLeast }: TimedRequest,
  { lifetimes, read }: PrefixCache,
): RequestTiming {
  const timing = earlier === undefined ? firstTiming(now, lifetimes.length) : earlier;
  const { outlasted, paid } = timing;
  const pause = now - timing.at;
  const weight = Math.max(1 / timing.requests, minWeight);
  if (now > timing.until) timing.kept = 0;
  if (earlier !== undefined) timing.requests += 1;
  const requests = Math.max(2, timing.requests);
  const found = Math.min(timing.kept, bytes);
  // All requests, including this one, may cost no more than the maximum.
  const maxCost = (timing.sent + bytes) * maxPaid - paid;
  let best: CacheLifetime | undefined;
  let maxSaved = 0;
  for (let index = 0; index < lifetimes.length; index += 1) {
    const lifetime = lifetimes[index] as CacheLifetime;
    let share = outlasted[index] ?? 0;
    if (earlier !== undefined) {
      share += ((pause > lifetime.ms ? 1 : 0) - share) * weight;
      outlasted[index] = share;
    }
    if (!wanted) continue;
    const reads = share <= 0 ? requests : expectedReads(1 - share, requests);
    const saved = reads * (1 - read) - (lifetime.write - 1);
    if (saved <= maxSaved || found * read + (bytes - found) * lifetime.write > maxCost) continue;
    maxSaved = saved;
    best = lifetime;
  }
  if (atLeast !== undefined && atLeast.ms >= (best?.ms ?? 0)) best = atLeast;
  timing.at = now;
  timing.sent += bytes;
  timing.paid = paid + (best === undefined ? bytes : found * read + (bytes - found) * best.write);
  timing.lifetime = best;
  if (best !== undefined) {
    timing.kept = bytes;
    timing.until = now + best.ms;
  }
  return timing;
}

function firstTiming(now: number, lifetimes: number): RequestTiming {
  const outlasted = Array.from({ length: lifetimes }, () => 0);
  return { at: now, requests: 1, outlasted, sent: 0, paid: 0, kept: 0, until: now, lifetime: undefined };
}

/** Returns the sum of `survives`, its square and so on: each request reads only what survived all earlier intervals. */
function expectedReads(survives: number, requests: number): number {
  return (survives * (1 - survives ** requests)) / (1 - survives);
}

/** Input for choosing the cache lifetimes of a request. */
export interface Keepable {
  /** Timing of the conversation's earlier requests. */
  readonly timing: RequestTiming | undefined;
  /** Timing of all requests with these tools, in any conversation. */
  readonly shared: { timing: RequestTiming | undefined };
  /** Time of this request, by the wall clock, in milliseconds. */
  readonly now: number;
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
