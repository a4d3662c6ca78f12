import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

test('there are at least 10 mutants, each with its own description', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(10);
  expect(new Set(mutants.map(({ why }) => why)).size).toBe(mutants.length);
});

test.each(mutants)('the code to change exists exactly once: $why', ({ file, find, replace }) => {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  expect(source.split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
});
