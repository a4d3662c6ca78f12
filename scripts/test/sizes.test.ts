import { expect, test } from 'vitest';
import { budgetFor, verdict } from '../sizes.mjs';

test.each([
  [10_000, 10_000, ''],
  [10_001, 10_000, 'too large'],
  [9_600, 10_000, ''],
  [9_500, 10_000, 'budget too large'],
  [300, 400, ''],
  [299, 400, 'budget too large'],
  [7, undefined, ''],
])('reports %i bytes with a budget of %s as "%s"', (size, budget, words) => {
  expect(verdict(size, budget)).toBe(words);
});

test('accepts a size within the budget computed for it', () => {
  for (const size of [0, 20, 999, 5_000, 180_841]) expect(verdict(size, budgetFor(size))).toBe('');
});
