// What has to hold between the tables of requirements and promises and the tests that cite them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {import('./citations.mjs').Citation} Citation
 * @typedef {import('./table.mjs').Table} Table
 */

/** More than these a test cannot be about. */
const maxNumbers = 3;

/**
 * @param {string} root
 * @param {readonly Table[]} tables
 * @param {readonly Citation[]} citations
 * @returns {string[]} what is wrong, each with what to do about it
 */
export function problemsOf(root, tables, citations) {
  const known = new Set(tables.flatMap(({ entries }) => Object.keys(entries)));
  const cited = new Set(citations.flatMap(({ numbers }) => numbers));
  return [
    ...citations.flatMap((citation) => problemsOfName(citation, known)),
    ...tables.flatMap((table) => problemsOfTable(root, table, known, cited)),
  ];
}

/**
 * @param {Citation} citation
 * @param {ReadonlySet<string>} known
 * @returns {string[]}
 */
function problemsOfName({ file, line, name, numbers }, known) {
  const where = `${file}:${line} "${name}"`;
  const problems = numbers
    .filter((number) => !known.has(number))
    .map((number) => `${where} cites ${number}, which stands in no table of scripts/seeds.`);
  if (numbers.length > maxNumbers) {
    const cited = `${numbers.length} numbers (${numbers.join(', ')})`;
    problems.push(
      `${where} cites ${cited}, its groups' included: keep ${maxNumbers}, or make two tests of it.`,
    );
  }
  return problems;
}

/**
 * @param {string} root
 * @param {Table} table
 * @param {ReadonlySet<string>} known
 * @param {ReadonlySet<string>} cited
 * @returns {string[]}
 */
function problemsOfTable(root, { id, entries, departures = [] }, known, cited) {
  const problems = [];
  for (const [number, { in: files = [], untested }] of Object.entries(entries)) {
    if (!cited.has(number) && untested === undefined)
      problems.push(
        `${number} has no test: put the number into the name of the one that proves it, or write it. What no test can prove says why, as "untested" in scripts/seeds.`,
      );
    if (cited.has(number) && untested !== undefined)
      problems.push(`${number} has a test and is said to be untested: take that away in scripts/seeds.`);
    for (const file of files.filter((one) => !existsSync(join(root, one))))
      problems.push(
        `${number} is said to stand in ${file}, which is not there: mend its table in scripts/seeds.`,
      );
  }
  for (const number of departures.flatMap(({ of }) => of))
    if (number !== id && !known.has(number))
      problems.push(`A departure of ${id} names ${number}, which is none.`);
  return problems;
}
