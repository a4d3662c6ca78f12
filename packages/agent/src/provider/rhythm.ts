import type { CacheLifetime, PrefixCache } from './wire.ts';

/** How requests that begin alike follow each other. */
export interface Rhythm {
  /** When the latest one was made, by the wall clock, in milliseconds. */
  readonly at: number;
  readonly requests: number;
  /** For each lifetime of the cache the share of pauses that were longer, the latest pauses weighing most. */
  readonly outlasted: readonly number[];
}

/** What one pause weighs at least among those before it: habits change. */
const leastWeight = 0.1;

/** The rhythm with one more request in it. */
export function beat(before: Rhythm | undefined, now: number, { lifetimes }: PrefixCache): Rhythm {
  if (before === undefined) return { at: now, requests: 1, outlasted: lifetimes.map(() => 0) };
  const pause = now - before.at;
  const weight = Math.max(1 / before.requests, leastWeight);
  const outlasted = lifetimes.map(({ ms }, index) => {
    const share = before.outlasted[index] ?? 0;
    return share + ((pause > ms ? 1 : 0) - share) * weight;
  });
  return { at: now, requests: before.requests + 1, outlasted };
}

/**
 * How long the service is to keep what is sent now: the lifetime with the best prospect, or none when writing
 * would cost more than it is likely to save.
 *
 * A token that is kept is read by every request until a pause outlasts its lifetime; then it has to be written
 * again. How many requests follow nobody knows; it is expected that as many follow as there were.
 */
export function lifetimeFor(rhythm: Rhythm, { lifetimes, read }: PrefixCache): CacheLifetime | undefined {
  let best: CacheLifetime | undefined;
  let most = 0;
  for (const [index, lifetime] of lifetimes.entries()) {
    const reads = expectedReads(1 - (rhythm.outlasted[index] ?? 0), Math.max(2, rhythm.requests));
    const saved = reads * (1 - read) - (lifetime.write - 1);
    if (saved <= most) continue;
    most = saved;
    best = lifetime;
  }
  return best;
}

/** The sum of `survives`, its square and so on: each request reads only what outlived all pauses before it. */
function expectedReads(survives: number, requests: number): number {
  if (survives >= 1) return requests;
  return (survives * (1 - survives ** requests)) / (1 - survives);
}
