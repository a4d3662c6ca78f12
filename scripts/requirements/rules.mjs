// Checks the tables of requirements and promises against the tests that cite them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {import('./citations.mjs').Citation} Citation
 * @typedef {import('./table.mjs').Table} Table
 */

/** Maximum numbers per test. */
const maxNumbers = 3;

/**
 * @param {string} root
 * @param {readonly Table[]} tables
 * @param {readonly Citation[]} citations
 * @returns {string[]} the problems, each with its remedy
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
    .map((number) => `${where} cites ${number}, which is in no table of scripts/requirements.`);
  if (numbers.length > maxNumbers) {
    const cited = `${numbers.length} numbers (${numbers.join(', ')})`;
    problems.push(`${where} cites ${cited}, including its groups. Keep ${maxNumbers}, or split the test.`);
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
        `${number} has no test. Add the number to the name of the test that proves it, or set "untested" with the reason in scripts/requirements.`,
      );
    if (cited.has(number) && untested !== undefined)
      problems.push(`${number} has a test but is marked "untested". Remove that in scripts/requirements.`);
    for (const file of files.filter((one) => !existsSync(join(root, one))))
      problems.push(
        `${number} names ${file}, which does not exist. Correct its table in scripts/requirements.`,
      );
  }
  for (const number of departures.flatMap(({ of }) => of))
    if (number !== id && !known.has(number))
      problems.push(`A departure of ${id} names ${number}, which does not exist.`);
  return problems;
}
