import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';

/** The timing of requests with a common prefix, and the cost of caching it so far. */
export interface RequestTiming {
  /** Time of the latest request, by the wall clock, in milliseconds. */
  readonly at: number;
  readonly requests: number;
  /** For each cache lifetime, the share of intervals between requests that were longer, weighted toward recent ones. */
  readonly outlasted: readonly number[];
  /** Total bytes of all requests. */
  readonly sent: number;
  /** Estimated cost of those requests, in bytes at the price of uncached input. */
  readonly paid: number;
  /** Number of bytes that the service still caches, and until when. */
  readonly kept: number;
  readonly until: number;
}

/**
 * Maximum total cost of requests with a common prefix, as a multiple of uncached input. It lets the first request use
 * the cheapest lifetime, because a second one may never come. A longer lifetime requires earlier savings, because it is
 * wasted if it is never used.
 */
export const maxPaid = 1.35;

/** Minimum weight of one interval in the average, because usage patterns change. */
const minWeight = 0.1;

/** Updates the timing at the start of a request. */
export function beat(
  before: RequestTiming | undefined,
  now: number,
  { lifetimes }: PrefixCache,
): RequestTiming {
  if (before === undefined) {
    const outlasted = lifetimes.map(() => 0);
    return { at: now, requests: 1, outlasted, sent: 0, paid: 0, kept: 0, until: now };
  }
  const pause = now - before.at;
  const weight = Math.max(1 / before.requests, minWeight);
  const outlasted = lifetimes.map(({ ms }, index) => {
    const share = before.outlasted[index] ?? 0;
    return share + ((pause > ms ? 1 : 0) - share) * weight;
  });
  const kept = now > before.until ? 0 : before.kept;
  return { ...before, at: now, requests: before.requests + 1, outlasted, kept };
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
  let best: CacheLifetime | undefined;
  let maxSaved = 0;
  for (const [index, lifetime] of cache.lifetimes.entries()) {
    const reads = expectedReads(1 - (timing.outlasted[index] ?? 0), Math.max(2, timing.requests));
    const saved = reads * (1 - cache.read) - (lifetime.write - 1);
    if (saved <= maxSaved || !isAffordable(timing, bytes, lifetime, cache)) continue;
    maxSaved = saved;
    best = lifetime;
  }
  return best;
}

/** Returns whether all requests, including this one with this lifetime, cost no more than {@link maxPaid}. */
function isAffordable(
  timing: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime,
  cache: PrefixCache,
): boolean {
  return timing.paid + costOf(timing, bytes, lifetime, cache) <= (timing.sent + bytes) * maxPaid;
}

/** Updates the timing after a request of this size with this lifetime. */
export function after(
  timing: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime | undefined,
  cache: PrefixCache,
): RequestTiming {
  const sent = timing.sent + bytes;
  const paid = timing.paid + costOf(timing, bytes, lifetime, cache);
  if (lifetime === undefined) return { ...timing, sent, paid };
  return { ...timing, sent, paid, kept: bytes, until: timing.at + lifetime.ms };
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
  if (survives >= 1) return requests;
  return (survives * (1 - survives ** requests)) / (1 - survives);
}
