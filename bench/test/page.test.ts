import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withBlock } from '../src/page.ts';
import { readReport } from '../src/report.ts';
import { markdownOf, textOf } from '../src/table.ts';

const results = new URL('../results/', import.meta.url);
const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8');
const kept = readFileSync(new URL('library.json', results), 'utf8');

test('the table of docs/performance.md matches the stored measurements', () => {
  const written = withBlock(page, markdownOf(readReport(kept)));
  expect(
    written === page,
    'Run: npm run bench -- --from bench/results/library.json --write docs/performance.md',
  ).toBe(true);
});

test('the stored measurements have five rounds or more of every row, and are small', () => {
  const report = readReport(kept);
  const rounds = (work: string) =>
    report.samples.filter((one) => one.work === work && one.entrant === 'cobbler').length;
  for (const work of ['t50', 't400', 's20k', 'j20', 'c1000'])
    expect([work, rounds(work)]).toEqual([work, report.rounds]);
  expect(report.rounds).toBeGreaterThanOrEqual(5);
  expect(rounds('cold')).toBeGreaterThanOrEqual(9);
  expect(report.sizes.map(({ entrant }) => entrant)).toContain('cobbler');
  expect(kept.length).toBeLessThan(200_000);
});

test('the printed table is stored with the measurements', () => {
  expect(readFileSync(new URL('library.txt', results), 'utf8')).toBe(textOf(readReport(kept)));
});

test('only the text between the marks is replaced, and a page without marks is rejected', () => {
  const once = withBlock(page, 'One.');
  expect(withBlock(once, 'Two.')).toBe(once.replace('One.', 'Two.'));
  expect(once.startsWith(page.slice(0, page.indexOf('<!--')))).toBe(true);
  expect(() => withBlock('# A page\n', 'x')).toThrow('has no marks for the table');
});
