// Writes the column "Tests" of docs/requirements.md and docs/promises.md from the names of the tests. The other
// columns are written by hand in those files.
//
//   npm run generate -- requirements
//
// Exits with 1 and writes nothing if a requirement or promise has no test, a file is missing, or a test cites an
// unknown number or more than three.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citationsIn } from './requirements/citations.mjs';

/** @typedef {import('./requirements/citations.mjs').Citation} Citation */

export const pages = ['docs/requirements.md', 'docs/promises.md'];

/** A row of a table. The section of departures, after the tables, has no tests. */
const ROW = /^\| ([SP]\d\S*) \|(.*) \|(?:[^|\\]|\\.)*\|$/;
const DEPARTURES = '\n## Departures\n';

/** Maximum number of tests shown per number, of numbers per test, and of characters of a test name. */
const maxShown = 3;
const maxNumbers = 3;
const maxCharacters = 96;

/**
 * Returns the number and the columns between number and tests of every row.
 * @param {string} text a page
 */
export function rowsOf(text) {
  const [tables = ''] = text.split(DEPARTURES);
  return tables.split('\n').flatMap((line) => {
    const [, number = '', columns = ''] = ROW.exec(line) ?? [];
    return number === '' ? [] : [{ number, columns }];
  });
}

/**
 * Returns a page with the tests of each row.
 * @param {string} text
 * @param {readonly Citation[]} citations
 */
export function withTests(text, citations) {
  const [tables = '', ...rest] = text.split(DEPARTURES);
  const lines = tables.split('\n').map((line) => {
    const [, number = '', columns = ''] = ROW.exec(line) ?? [];
    return number === '' ? line : `| ${number} |${columns} | ${proofOf(number, citations)} |`;
  });
  return [lines.join('\n'), ...rest].join(DEPARTURES);
}

/**
 * Returns the problems of the pages and of the tests that cite them, each with its remedy.
 * @param {string} root
 * @param {readonly string[]} texts the pages
 * @param {readonly Citation[]} citations
 * @returns {string[]}
 */
export function problemsOf(root, texts, citations) {
  const rows = texts.flatMap(rowsOf);
  const known = new Set(rows.map(({ number }) => number));
  const cited = new Set(citations.flatMap(({ numbers }) => numbers));
  const departures = texts.flatMap((text) => text.split(DEPARTURES)[1]?.match(/^\| [SP]\d.*?\|/gm) ?? []);
  return [
    ...citations.flatMap(({ file, line, name, numbers }) => {
      const where = `${file}:${line} "${name}"`;
      const unknown = numbers.filter((number) => !known.has(number));
      return [
        ...unknown.map(
          (number) => `${where} cites ${number}, which is in no table of ${pages.join(' or ')}.`,
        ),
        ...(numbers.length > maxNumbers
          ? [
              `${where} cites ${numbers.length} numbers, including its groups. Keep ${maxNumbers}, or split the test.`,
            ]
          : []),
      ];
    }),
    ...rows.flatMap(({ number, columns }) => [
      ...(cited.has(number)
        ? []
        : [`${number} has no test. Add the number to the name of the test that proves it.`]),
      ...[...columns.matchAll(/`([\w.-]+\/[\w./-]+)`/g)]
        .filter(([, file = '']) => !existsSync(join(root, file)))
        .map(([, file]) => `${number} names ${file}, which does not exist.`),
    ]),
    ...departures
      .flatMap((cell) => cell.match(/S\d\.\d+|P\d+/g) ?? [])
      .filter((number) => !known.has(number))
      .map((number) => `A departure names ${number}, which does not exist.`),
  ];
}

/**
 * @param {string} number
 * @param {readonly Citation[]} citations
 */
function proofOf(number, citations) {
  const tests = citations.filter(({ numbers }) => numbers.includes(number));
  const shown = chosen(tests);
  const rest = tests.length - shown.length;
  return [
    ...shown.map((test) => `\`${test.file}\`: ${cell(short(nameFor(test)))}`),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ].join('<br>');
}

/**
 * Chooses the clearest tests, one per file first.
 * @param {readonly Citation[]} tests
 * @returns {Citation[]}
 */
function chosen(tests) {
  const ranked = tests.toSorted((left, right) => obscurity(left) - obscurity(right));
  const firsts = ranked.filter(({ file }, at) => ranked.findIndex((one) => one.file === file) === at);
  const others = ranked.filter((test) => !firsts.includes(test));
  return [...firsts, ...others].slice(0, maxShown);
}

/**
 * Ranks a test by how little it explains the number that it cites. The best test is in a
 * requirements file and cites no other number. The worst has a computed name and is in a suite that
 * `npm test` does not run.
 * @param {Citation} test
 */
function obscurity({ file, name, numbers }) {
  return (
    numbers.length +
    (/\/requirements(-s\d)?\.test/.test(file) ? 0 : 4) +
    (/^(packages|apps)\/[^/]+\/(src|test)\//.test(file) ? 0 : 8) +
    (file.startsWith('packages/') ? 0 : 1) +
    (/…|%\w|\$\w/.test(name) ? 8 : 0)
  );
}

/** Words with which the name of a test continues the name of its group as one sentence. */
const CONTINUES =
  /^(is|are|has|have|can|cannot|does|do|that|for|with|was|were|gets|keeps|runs|ends|receives)\b/;

/**
 * Returns the name to show, with the name of its innermost group.
 * @param {Citation} test
 */
function nameFor({ name, groups: [group] }) {
  if (group === undefined) return bare(name);
  return `${bare(group)}${CONTINUES.test(name) ? '' : ':'} ${bare(name)}`;
}

/** @param {string} name */
const bare = (name) => name.replace(/ \[[A-Z]\d[^\]]*\]$/, '').trim();

/** @param {string} words */
const short = (words) =>
  words.length > maxCharacters ? `${words.slice(0, maxCharacters).trimEnd()}…` : words;

/** @param {string} text */
const cell = (text) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');

function main() {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const citations = citationsIn(root);
  const texts = pages.map((page) => readFileSync(join(root, page), 'utf8'));
  const problems = problemsOf(root, texts, citations);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  else
    for (const [at, page] of pages.entries())
      writeFileSync(join(root, page), withTests(texts[at] ?? '', citations));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
