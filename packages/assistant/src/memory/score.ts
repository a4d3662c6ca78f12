import type { Word } from './words.ts';

/** Default minimum score, the same for every embedder. */
export const scoreFloor = 0.5;

/** Default maximum number of memories in search results. */
export const defaultLimit = 5;

/**
 * Converts a cosine to a score: 0.5 at the embedder's own floor, 1 for the same direction. So one minimum score works
 * for every embedder, although the cosines of unrelated texts differ considerably.
 */
export function meaningScore(cosine: number, floor: number): number {
  if (cosine >= floor) return floor >= 1 ? 1 : 0.5 + (0.5 * (Math.min(cosine, 1) - floor)) / (1 - floor);
  return (0.5 * Math.max(cosine, 0)) / floor;
}

/**
 * Returns the share of a query's words that a memory contains, as a score up to 0.75. It requires at least two words
 * and two thirds of the query: names and numbers, which embedders handle badly, consist of several words, while one
 * common word can be a coincidence.
 */
export function wordScore(question: readonly Word[], memory: ReadonlySet<string>): number {
  const words = new Map(question.map(({ stem, weight }) => [stem, weight]));
  let all = 0;
  let found = 0;
  let count = 0;
  for (const [stem, weight] of words) {
    all += weight;
    if (!memory.has(stem)) continue;
    found += weight;
    count += 1;
  }
  const share = all === 0 ? 0 : found / all;
  return count >= 2 && share >= 2 / 3 ? 0.75 * share : 0;
}
