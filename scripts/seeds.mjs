// Writes docs/seeds.md and docs/promises.md: what is asked of Cobbler, where it is done, and which tests prove it.
//
//   npm run docs:seeds               writes both
//   npm run docs:seeds -- --check    says whether they are as they would be written
//
// Ends with 1 and writes nothing when a requirement or promise has no test, a file is gone, a test cites a number
// that there is not, or more than three. The tables are in scripts/seeds; tests are found by their names.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citationsIn } from './seeds/citations.mjs';
import { promisesPage, seedsPage } from './seeds/page.mjs';
import { problemsOf } from './seeds/rules.mjs';
import { promises, seeds } from './seeds/table.mjs';

/**
 * @param {string} root
 * @returns {{ problems: string[], pages: Map<string, string> }} what is wrong, and the pages by their path
 */
export function proofs(root) {
  const citations = citationsIn(root);
  const problems = problemsOf(root, [...seeds, promises], citations);
  const pages = new Map([
    ['docs/seeds.md', seedsPage(seeds, citations)],
    ['docs/promises.md', promisesPage(promises, citations)],
  ]);
  return { problems, pages };
}

/**
 * @param {string} root
 * @param {Map<string, string>} pages
 * @returns {string[]} paths of pages that are not as they would be written
 */
export function outdated(root, pages) {
  return [...pages].filter(([path, text]) => readPage(join(root, path)) !== text).map(([path]) => path);
}

/** @param {string} path */
function readPage(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** @param {string[]} args */
function main(args) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const { problems, pages } = proofs(root);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) return 1;
  const old = outdated(root, pages);
  if (args.includes('--check')) {
    for (const path of old) process.stderr.write(`${path} is not up to date: npm run docs:seeds\n`);
    return old.length > 0 ? 1 : 0;
  }
  for (const path of old) writeFileSync(join(root, path), pages.get(path) ?? '');
  process.stdout.write(old.length > 0 ? `Written: ${old.join(', ')}\n` : 'Nothing has changed.\n');
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
