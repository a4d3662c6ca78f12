import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

test('has at least 15 mutants, each with a different reason', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(15);
  expect(new Set(mutants.map(({ why }) => why)).size).toBe(mutants.length);
});

test.each(mutants)(
  'the code that the mutant changes occurs exactly once: $why',
  ({ file, find, replace }) => {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    expect(source.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  },
);
