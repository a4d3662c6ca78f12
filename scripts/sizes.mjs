// Compares the size of each built entry of a package with its budget in budgets.json:
//
//   npm run bench -- sizes       prints both, and exits with 1 if an entry is above its budget or far below it
//   npm run generate -- sizes    sets each budget to the size plus 3%
//
// The size is what a program loads when it imports the entry: bundled, minified, compressed, without its dependencies.
// Code that is loaded later, with import(), has a budget of its own.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedPackages } from './api/exports.mjs';
import { readProject } from './api/source.mjs';
import { bundleSize } from './bundle-size.mjs';

/**
 * Returns the budget for a size: 3% more, or 50 bytes.
 * @param {number} size
 */
export const budgetFor = (size) => Math.ceil(Math.max(size * 1.03, size + 50) / 10) * 10;

/**
 * Compares a size with its budget and returns the problem. An entry without a budget is new.
 * @param {number} size
 * @param {number | undefined} budget
 */
export function verdict(size, budget) {
  if (budget === undefined) return '';
  if (size > budget) return 'too large';
  return budget > Math.max(size * 1.05, size + 100) ? 'budget too large' : '';
}

/** What most programs import, bundled together. The sizes of its two entries alone contain their common code twice. */
const usual = {
  name: 'main entry and Claude provider together',
  text: "export { defineTool, Executor } from '@cobbler/agent'; export { createClaude } from '@cobbler/provider-claude';",
};

/**
 * Returns the size of every entry of every published package and of the command line.
 * @param {string} root
 * @returns {Promise<Map<string, number>>}
 */
async function sizes(root) {
  const project = readProject(root, []);
  const programs = [
    ...publishedPackages(project).flatMap((target) =>
      Object.keys(target.manifest.exports).map((entry) => {
        const name = target.name + entry.slice(1);
        return { target, name, text: `export * from '${name}';` };
      }),
    ),
    ...project.packages.flatMap((target) =>
      Object.entries(target.manifest.bin ?? {}).map(([name, file]) => ({
        target,
        name,
        // The CLI loads its highlighter with `require`, which a bundler does not see.
        text: `import './${file}'; import('./dist/highlighter.js');`,
      })),
    ),
  ];
  const found = new Map();
  // Without the dependencies of the agent, which is bundled here.
  const agent = project.packages.find(({ name }) => name === '@cobbler/agent');
  if (agent !== undefined)
    programs.push({ target: { ...agent, folder: 'packages/provider-claude' }, ...usual });
  for (const { target, name, text } of programs) {
    const { atStart, later } = await sizeOf(join(root, target.folder), target.manifest, text);
    found.set(name, atStart);
    if (later > 0) found.set(`${name}, loaded later`, later);
  }
  return found;
}

/**
 * @param {string} folder
 * @param {any} manifest
 * @param {string} contents
 */
function sizeOf(folder, { dependencies, peerDependencies }, contents) {
  if (!existsSync(join(folder, 'dist')))
    throw new Error(`${folder} is not built. Run: npm run exec -- turbo run build`);
  const outside = Object.keys({ ...dependencies, ...peerDependencies });
  return bundleSize({ contents, folder, external: outside.flatMap((name) => [name, `${name}/*`]) });
}

async function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const file = join(root, 'scripts/budgets.json');
  const found = await sizes(root);
  if (process.argv.includes('--write')) {
    const budgets = Object.fromEntries([...found].map(([entry, size]) => [entry, budgetFor(size)]));
    writeFileSync(file, `${JSON.stringify(budgets, null, 2)}\n`);
    return;
  }
  /** @type {Record<string, number>} */
  const budgets = JSON.parse(readFileSync(file, 'utf8'));
  const rows = [...found].map(([entry, size]) => ({
    entry,
    size,
    budget: budgets[entry],
    wrong: verdict(size, budgets[entry]),
  }));
  const gone = Object.keys(budgets).filter((entry) => !found.has(entry));
  console.table(rows);
  for (const entry of gone) console.log(`${entry} is no longer an entry`);
  if (gone.length === 0 && rows.every(({ wrong }) => wrong === '')) return;
  console.log('If that is intended, run: npm run generate -- sizes');
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
