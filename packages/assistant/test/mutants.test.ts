import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

test('has at least 12 mutants, each with a different reason', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(12);
  expect(new Set(mutants.map(({ why }) => why)).size).toBe(mutants.length);
});

test('every requirement of the assistant has a mutant, here or in the provider that it uses', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const required = new Set(read('../../../docs/requirements.md').match(/(?<=^\| )S3\.\d+(?= \|)/gm));
  const elsewhere = read('../../provider-ai-sdk/test/mutants.ts').match(/(?<=breaks: \[.*)S3\.\d+/g) ?? [];
  const broken = new Set([...mutants.flatMap(({ breaks }) => breaks), ...elsewhere]);
  expect(required.size).toBe(13);
  expect([...required].filter((id) => !broken.has(id))).toEqual([]);
});

test.each(mutants)(
  'the code that the mutant changes occurs exactly once: $why',
  ({ file, find, replace }) => {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    expect(source.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  },
);
