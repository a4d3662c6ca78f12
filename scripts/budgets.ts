// What the house allows itself, beside what it takes, all of it counted now:
//
//   npm run bench -- sizes              prints the table, and exits 1 when an entry is over its budget, or far below it
//   npm run bench -- sizes --check   looks at the sizes of entries only
//   npm run generate -- sizes   gives each entry the budget that goes with its size
//
// Entries are weighed as they are built: 'npm run exec turbo run build' comes first, as in npm test. The limits of files
// and functions, and the rules behind the zeros, are kept by npm run check.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { maxFunction } from './budgets/longest-function.ts';
import { shapeOf } from './budgets/shape.ts';
import type { EntrySize } from './budgets/sizes.ts';
import { budgetFor, entrySizes, verdict } from './budgets/sizes.ts';
import { dependencyRows, tableOf } from './budgets/table.ts';
import { readProject } from './house/source.mjs';
import { runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const file = join(root, 'scripts', 'budgets.json');
const house: { sources: string[]; maxLines: number } = JSON.parse(
  readFileSync(join(root, 'scripts', 'house.json'), 'utf8'),
);

const functionLines: number = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')).linter.rules
  .complexity.noExcessiveLinesPerFunction.options.maxLines;

type Budgets = Readonly<Record<string, number>>;

function check(sizes: readonly EntrySize[], budgets: Budgets): number {
  const known = new Set(sizes.map(({ entry }) => entry));
  const problems = [
    ...sizes.flatMap((size) => verdict(size, budgets[size.entry]) ?? []),
    ...Object.keys(budgets).flatMap((entry) => (known.has(entry) ? [] : [`${entry} is no entry any more`])),
  ];
  for (const problem of problems) print(problem);
  if (problems.length > 0) print("If that is meant, run 'npm run generate -- sizes'.");
  return problems.length > 0 ? 1 : 0;
}

async function printAll(sizes: readonly EntrySize[], budgets: Budgets): Promise<void> {
  const project = readProject(root, house.sources);
  const shape = shapeOf(project);
  const fn = await maxFunction(root);
  print(
    tableOf([
      ['what', 'now', 'allowed', 'where'],
      ['longest file, lines', `${shape.file.lines}`, `${house.maxLines}`, shape.file.place],
      ['longest function, lines', `${fn.lines}`, `${functionLines}`, fn.place],
      ['import cycles', `${shape.cycles}`, '0', ''],
      ['any', `${shape.anys}`, '0', ''],
      ['undocumented exports', `${shape.undocumented}`, '0', `of ${shape.exports}`],
    ]),
  );
  const rows = sizes.map(({ entry, gzipBytes }) => [entry, `${gzipBytes}`, `${budgets[entry] ?? 'none'}`]);
  print(tableOf([['bytes of an entry, minified, gzip', 'now', 'allowed'], ...rows]));
  print(tableOf([['package', 'runtime dependencies'], ...dependencyRows(project)]));
  const { contractRows } = await import('./budgets/contract-rows.ts');
  print(tableOf([['contract suite', 'cases', 'off'], ...(await contractRows())]));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

await runSuite('budgets', async (words) => {
  const sizes = await entrySizes(readProject(root, []));
  if (words.includes('--write')) {
    const written = Object.fromEntries(sizes.map(({ entry, gzipBytes }) => [entry, budgetFor(gzipBytes)]));
    writeFileSync(file, `${JSON.stringify(written, null, 2)}\n`);
    return 0;
  }
  const budgets: Budgets = JSON.parse(readFileSync(file, 'utf8'));
  if (!words.includes('--check')) await printAll(sizes, budgets);
  return check(sizes, budgets);
});
