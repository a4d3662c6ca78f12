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

/** Updates the timing at the start of a request, and returns it. */
export function beat(
  timing: RequestTiming | undefined,
  now: number,
  { lifetimes }: PrefixCache,
): RequestTiming {
  if (timing === undefined) {
    const outlasted = lifetimes.map(() => 0);
    return { at: now, requests: 1, outlasted, sent: 0, paid: 0, kept: 0, until: now };
  }
  const { outlasted } = timing;
  const pause = now - timing.at;
  const weight = Math.max(1 / timing.requests, minWeight);
  for (let index = 0; index < outlasted.length; index += 1) {
    const share = outlasted[index] ?? 0;
    const isLonger = pause > (lifetimes[index]?.ms ?? 0);
    outlasted[index] = share + ((isLonger ? 1 : 0) - share) * weight;
  }
  if (now > timing.until) timing.kept = 0;
  timing.at = now;
  timing.requests += 1;
  return timing;
}

/**
 * Returns the cache lifetime for a request of this size: the affordable one with the highest expected savings, or
 * undefined if writing would cost more than it saves.
 *
 * Every request reads a cached token until an interval exceeds its lifetime; then the token must be written again. The
 * number of future requests is unknown; the estimate is as many as there were so far.
 */
export function lifetimeFor(
  timing: RequestTiming,
  bytes: number,
  cache: PrefixCache,
): CacheLifetime | undefined {
  const { lifetimes, read } = cache;
  const requests = Math.max(2, timing.requests);
  let best: CacheLifetime | undefined;
  let maxSaved = 0;
  for (let index = 0; index < lifetimes.length; index += 1) {
    const lifetime = lifetimes[index] as CacheLifetime;
    const survives = 1 - (timing.outlasted[index] ?? 0);
    const reads = survives >= 1 ? requests : expectedReads(survives, requests);
    const saved = reads * (1 - read) - (lifetime.write - 1);
    if (saved <= maxSaved) continue;
    // All requests, including this one with this lifetime, may cost no more than the maximum.
    if (timing.paid + costOf(timing, bytes, lifetime, cache) <= (timing.sent + bytes) * maxPaid) {
      maxSaved = saved;
      best = lifetime;
    }
  }
  return best;
}

/** Updates the timing after a request of this size with this lifetime, and returns it. */
export function after(
  timing: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime | undefined,
  cache: PrefixCache,
): RequestTiming {
  timing.paid += costOf(timing, bytes, lifetime, cache);
  timing.sent += bytes;
  if (lifetime !== undefined) {
    timing.kept = bytes;
    timing.until = timing.at + lifetime.ms;
  }
  return timing;
}

/**
 * Returns the estimated cost of a request, in bytes at the price of uncached input. A request without caching does not
 * read the cache either.
 */
function costOf(
  { kept }: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime | undefined,
  { read }: PrefixCache,
): number {
  if (lifetime === undefined) return bytes;
  const found = Math.min(kept, bytes);
  return found * read + (bytes - found) * lifetime.write;
}

/** Returns the sum of `survives`, its square and so on: each request reads only what survived all earlier intervals. */
function expectedReads(survives: number, requests: number): number {
  return (survives * (1 - survives ** requests)) / (1 - survives);
}
