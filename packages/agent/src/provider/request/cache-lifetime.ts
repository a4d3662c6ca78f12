import type { CacheLifetime, PrefixCache } from '../wire/wire.ts';

/** How requests that begin alike follow each other, and what keeping them has cost so far. */
export interface RequestTiming {
  /** When the latest one was made, by the wall clock, in milliseconds. */
  readonly at: number;
  readonly requests: number;
  /** For each lifetime of the cache the share of pauses that were longer, the latest pauses weighing most. */
  readonly outlasted: readonly number[];
  /** Bytes of all requests. */
  readonly sent: number;
  /** What those are likely to have cost, in bytes at the price of plain input. */
  readonly paid: number;
  /** How many bytes the service still keeps, and until when. */
  readonly kept: number;
  readonly until: number;
}

/**
 * The most that requests which begin alike may cost together, as a multiple of plain input. The first one of all
 * costs what the cheapest lifetime asks for writing, because a second one may never come. A
 * longer lifetime has to be saved up for: bought at once and never used, it is wasted.
 */
export const maxPaid = 1.35;

/** What one pause weighs at least among those before it: habits change. */
const minWeight = 0.1;

/** The rhythm as the next request finds it. */
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
 * How long the service is to keep a request of so many bytes: the affordable lifetime with the best prospect,
 * or none when writing would cost more than it is likely to save.
 *
 * A token that is kept is read by every request until a pause outlasts its lifetime; then it has to be written
 * again. How many requests follow is unknown; it is expected that as many follow as there were.
 */
export function lifetimeFor(
  rhythm: RequestTiming,
  bytes: number,
  cache: PrefixCache,
): CacheLifetime | undefined {
  let best: CacheLifetime | undefined;
  let most = 0;
  for (const [index, lifetime] of cache.lifetimes.entries()) {
    const reads = expectedReads(1 - (rhythm.outlasted[index] ?? 0), Math.max(2, rhythm.requests));
    const saved = reads * (1 - cache.read) - (lifetime.write - 1);
    if (saved <= most || !isAffordable(rhythm, bytes, lifetime, cache)) continue;
    most = saved;
    best = lifetime;
  }
  return best;
}

/** Whether all requests together, this one kept so long, cost no more than {@link maxPaid}. */
function isAffordable(
  rhythm: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime,
  cache: PrefixCache,
): boolean {
  return rhythm.paid + costOf(rhythm, bytes, lifetime, cache) <= (rhythm.sent + bytes) * maxPaid;
}

/** The rhythm with a request of so many bytes in it that is kept so long. */
export function after(
  rhythm: RequestTiming,
  bytes: number,
  lifetime: CacheLifetime | undefined,
  cache: PrefixCache,
): RequestTiming {
  const sent = rhythm.sent + bytes;
  const paid = rhythm.paid + costOf(rhythm, bytes, lifetime, cache);
  if (lifetime === undefined) return { ...rhythm, sent, paid };
  return { ...rhythm, sent, paid, kept: bytes, until: rhythm.at + lifetime.ms };
}

/** What a request is likely to cost, in bytes at the price of plain input. One that keeps nothing finds nothing. */
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

/** The sum of `survives`, its square and so on: each request reads only what outlived all pauses before it. */
function expectedReads(survives: number, requests: number): number {
  if (survives >= 1) return requests;
  return (survives * (1 - survives ** requests)) / (1 - survives);
}
