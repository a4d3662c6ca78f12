import { describe, expect, it } from 'vitest';
import { facts, unrelated } from '../data/recall.ts';
import { recallFigures } from './recall-figures.ts';

describe('recall of 40 facts, with 40 unrelated questions [S3.13]', async () => {
  const figures = await recallFigures();

  it('uses 40 facts and 40 unrelated questions', () => {
    expect([facts.length, unrelated.length]).toEqual([40, 40]);
  });

  it.each(figures.filter(({ embedder }) => embedder === 'lexical-1'))(
    'offline, $memory recalls at least 30 facts by a shared word, with at most 4 false recalls',
    ({ hits, falseRecalls, leaks }) => {
      expect(hits).toBeGreaterThanOrEqual(30);
      expect(falseRecalls).toBeLessThanOrEqual(4);
      expect(leaks).toBe(0);
    },
  );

  it.each(figures.filter(({ embedder }) => embedder === 'meanings'))(
    'with semantic vectors, $memory recalls at least 38 facts without a shared word, and none falsely',
    ({ hits, hitsByMeaning, falseRecalls, leaks }) => {
      expect(hits).toBeGreaterThanOrEqual(38);
      expect(hitsByMeaning).toBeGreaterThanOrEqual(38);
      expect(falseRecalls).toBe(0);
      expect(leaks).toBe(0);
    },
  );
});
