import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { maxIn } from '../budgets/longest-function.ts';
import { shapeOf } from '../budgets/shape.ts';
import { budgetFor, entrySizes, verdict } from '../budgets/sizes.ts';
import { dependencyRows, tableOf } from '../budgets/table.ts';
import { Refusal } from '../child.mjs';
import { readProject } from '../house/source.mjs';

const home = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('sizes of entries', () => {
  test.each([
    [10_000, 10_000, true],
    [10_001, 10_000, false],
    [9_600, 10_000, true],
    [9_500, 10_000, false],
    [300, 400, true],
    [299, 400, false],
  ])('%i bytes against a budget of %i: %s', (gzipBytes, budget, isFine) => {
    expect(verdict({ entry: 'x', gzipBytes }, budget) === undefined).toBe(isFine);
  });

  test('an entry without a budget is let through, and the budget that is written for it is accepted', () => {
    // What is new has none yet, so that a package can be added without an edit elsewhere.
    expect(verdict({ entry: 'x', gzipBytes: 7 }, undefined)).toBeUndefined();
    for (const gzipBytes of [0, 20, 999, 5_000, 180_841])
      expect(verdict({ entry: 'x', gzipBytes }, budgetFor(gzipBytes))).toBeUndefined();
  });

  test('where nothing is built the command that builds is named, for people and without a stack', async () => {
    const manifest = { name: '@cobbler/bare', exports: { '.': './dist/index.js' } };
    const packages = [{ name: manifest.name, folder: 'packages/bare', manifest }];
    await expect(entrySizes({ root: home, packages, sources: new Map() })).rejects.toEqual(
      new Refusal("packages/bare is not built. Run 'npm run exec turbo run build' first."),
    );
  });
});

test('longest file, cycles and any are counted in what is read', () => {
  const folder = join(home, 'packages/one/src');
  mkdirSync(folder, { recursive: true });
  const long = `export const long = () => {\n${'  work();\n'.repeat(30)}};\n`;
  writeFileSync(
    join(folder, 'index.ts'),
    `import { long } from './long.ts';\nexport const a: any = long;\n/** B. */\nexport type B = any;\n`,
  );
  writeFileSync(join(folder, 'long.ts'), `import type { B } from './index.ts';\n${long}export type C = B;\n`);
  const exports = { '.': { '@cobbler/source': './src/index.ts' } };
  writeFileSync(join(home, 'packages/one/package.json'), JSON.stringify({ name: '@cobbler/one', exports }));
  expect(shapeOf(readProject(home, ['packages/*/src']))).toEqual({
    file: { lines: 34, place: 'packages/one/src/long.ts' },
    cycles: 1,
    anys: 2,
    exports: 2,
    undocumented: 1,
  });
});

test('the longest function is the one of which the linter says so, tests left out', () => {
  const told = (file: string, count: number) =>
    `::error title=lint/complexity,file=${file},line=7,endLine=9,col=1,endColumn=2::This function has too many lines (${count}). Maximum allowed is 20.`;
  const output = ['x', told('src/a.ts', 31), told('src/b.ts', 62), told('p/test/c.ts', 99)].join('\n');
  expect(maxIn(output)).toEqual({ lines: 62, place: 'src/b.ts:7' });
  expect(maxIn('')).toEqual({ lines: 0, place: 'none' });
});

test('what is installed along is listed, what is optional in brackets', () => {
  const manifest = {
    dependencies: { zod: '4' },
    peerDependencies: { pg: '8', sdk: '1' },
    peerDependenciesMeta: { sdk: { optional: true } },
  };
  const packages = [
    { name: 'b', folder: '', manifest },
    { name: 'a', folder: '', manifest: {} },
    { name: 'c', folder: '', manifest: { private: true } },
  ];
  expect(dependencyRows({ root: '', packages, sources: new Map() })).toEqual([
    ['a', 'none'],
    ['b', 'zod, pg, (sdk)'],
  ]);
});

test('figures stand to the right of their column', () => {
  expect(
    tableOf([
      ['name', 'now'],
      ['a', '5'],
      ['b', '1234'],
    ]),
  ).toBe('| name |  now |\n| ---- | ---: |\n| a    |    5 |\n| b    | 1234 |\n');
});
