// Writes docs/requirements.md and docs/promises.md: each requirement, the files that implement it, the tests that prove it.
//
//   npm run generate -- requirements            writes both pages
//   npm run generate -- requirements --check    checks that they are up to date
//
// Exits with 1 and writes nothing if a requirement or promise has no test, a file is missing, or a test cites an unknown
// number or more than three. The tables are in scripts/requirements; tests are found by the numbers in their names.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citationsIn } from './requirements/citations.mjs';
import { promisesPage, requirementsPage } from './requirements/page.mjs';
import { problemsOf } from './requirements/rules.mjs';
import { promises, requirements } from './requirements/table.mjs';

/**
 * @param {string} root
 * @returns {{ problems: string[], pages: Map<string, string> }} the problems, and the pages by path
 */
export function proofs(root) {
  const citations = citationsIn(root);
  const problems = problemsOf(root, [...requirements, promises], citations);
  const pages = new Map([
    ['docs/requirements.md', requirementsPage(requirements, citations)],
    ['docs/promises.md', promisesPage(promises, citations)],
  ]);
  return { problems, pages };
}

/**
 * @param {string} root
 * @param {Map<string, string>} pages
 * @returns {string[]} paths of the pages that are out of date
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
    for (const path of old)
      process.stderr.write(`${path} is not up to date: npm run generate -- requirements\n`);
    return old.length > 0 ? 1 : 0;
  }
  for (const path of old) writeFileSync(join(root, path), pages.get(path) ?? '');
  process.stdout.write(old.length > 0 ? `Written: ${old.join(', ')}\n` : 'Both pages are up to date.\n');
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
