import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

/** The promises that the library makes: each must have a mistake that its tests notice. */
const promises = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 18, 19, 21];

test('there are at least sixty mutants, each with a reason of its own', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  expect(new Set(mutants.map(({ why }) => why)).size).toBe(mutants.length);
});

test('every promise of the library is broken by at least one', () => {
  const broken = new Set(mutants.flatMap((mutant) => mutant.promises));
  expect([...broken].sort((left, right) => left - right)).toEqual(promises);
});

test.each(mutants)('the place of the mutant is still there: $why', ({ file, find, replace }) => {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
