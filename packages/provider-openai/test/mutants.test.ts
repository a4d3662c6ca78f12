import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chatMutants } from './mutants/chat.ts';
import { responsesMutants } from './mutants/responses.ts';
import { mutants } from './mutants.ts';

test('has at least 15 mutants for each wire, each with a different reason', () => {
  expect(responsesMutants.length).toBeGreaterThanOrEqual(15);
  expect(chatMutants.length).toBeGreaterThanOrEqual(15);
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
