import { describe, expect, it } from 'vitest';
import { facts, unrelated } from '../data/recall.ts';
import { recallFigures } from './recall-figures.ts';

describe('forty facts and forty questions that have nothing to do with them [S3.13]', async () => {
  const figures = await recallFigures();

  it('there are forty of each', () => {
    expect([facts.length, unrelated.length]).toEqual([40, 40]);
  });

  it.each(figures.filter(({ embedder }) => embedder === 'lexical-1'))(
    'offline, $memory recalls at least 30 that share a word, and at most 4 wrongly',
    ({ hits, falseRecalls, leaks }) => {
      expect(hits).toBeGreaterThanOrEqual(30);
      expect(falseRecalls).toBeLessThanOrEqual(4);
      expect(leaks).toBe(0);
    },
  );

  it.each(figures.filter(({ embedder }) => embedder === 'meanings'))(
    'with vectors of meaning, $memory recalls at least 38 in entirely other words, and none wrongly',
    ({ hits, hitsByMeaning, falseRecalls, leaks }) => {
      expect(hits).toBeGreaterThanOrEqual(38);
      expect(hitsByMeaning).toBeGreaterThanOrEqual(38);
      expect(falseRecalls).toBe(0);
      expect(leaks).toBe(0);
    },
  );
});
