import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants, promises } from './mutants.ts';

test('there are at least sixty mutants, each with a reason of its own', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  expect(new Set(mutants.map(({ why }) => why)).size).toBe(mutants.length);
});

test('every promise of the library is broken by at least one', () => {
  const broken = new Set(mutants.flatMap(({ breaks }) => breaks));
  expect(promises.filter((promise) => !broken.has(promise))).toEqual([]);
});

test.each(mutants)('the place of the mutant is still there: $why', ({ file, find, replace }) => {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
