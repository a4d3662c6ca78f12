// Writes the pages of requirements, promises and the tests that prove them.

/**
 * @typedef {import('./citations.mjs').Citation} Citation
 * @typedef {import('./table.mjs').Table} Table
 * @typedef {import('./table.mjs').Entry} Entry
 */

/** Maximum number of tests shown per number. */
const maxShown = 3;

/** Maximum characters of a test name. */
const maxCharacters = 96;

const notice =
  '<!-- Written by `npm run generate -- requirements` from scripts/requirements and the names of the tests: change those. -->';

/**
 * @param {readonly Table[]} tables
 * @param {readonly Citation[]} citations
 * @returns {string}
 */
export function requirementsPage(tables, citations) {
  const numbers = tables.flatMap(({ entries }) => Object.keys(entries));
  const lines = [
    '# Requirements',
    '',
    notice,
    '',
    `Cobbler implements five specifications with ${numbers.length} requirements. This page lists what each requirement asks for, the`,
    'files that implement it, and the tests that prove it. The last section lists every departure from the specifications.',
    '',
    'A test name ends with the numbers of the requirements it proves, three at most. `npm test -- -t "S0.16"` runs the tests of',
    'one requirement. The tables show up to three. Tests in `e2e` and `faces` run in separate suites: see CONTRIBUTING.md.',
    '',
  ];
  for (const { id, title, entries } of tables) {
    lines.push(`## ${id}: ${title}`, '', '| | Asks for | Implemented in | Tests |', '|---|---|---|---|');
    for (const [number, entry] of Object.entries(entries))
      lines.push(
        `| ${number} | ${cell(entry.asks)} | ${filesOf(entry)} | ${proofOf(number, entry, citations)} |`,
      );
    lines.push('');
  }
  lines.push('## Departures', '', '| | Asked | Here | Why |', '|---|---|---|---|');
  for (const { of, asked, here, why } of tables.flatMap(({ departures = [] }) => departures))
    lines.push(`| ${of.join(', ')} | ${cell(asked)} | ${cell(here)} | ${cell(why)} |`);
  return `${lines.join('\n')}\n`;
}

/**
 * @param {Table} table
 * @param {readonly Citation[]} citations
 * @returns {string}
 */
export function promisesPage({ entries }, citations) {
  const lines = [
    '# Promises',
    '',
    notice,
    '',
    'Each promise, and the tests that prove it. A test name ends with the numbers of its promises: `npm test -- -t "P9\\b"` runs',
    'the tests of one promise. `npm run mutants` shows for each promise of the core that its tests notice planted mistakes. Tests',
    'in `e2e` and `faces` run in separate suites: see CONTRIBUTING.md.',
    '',
    '| | Promise | Tests |',
    '|---|---|---|',
    ...Object.entries(entries).map(
      ([number, entry]) => `| ${number} | ${cell(entry.asks)} | ${proofOf(number, entry, citations)} |`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {Entry} entry */
function filesOf({ in: files = [] }) {
  return files.map((file) => `\`${file}\``).join('<br>');
}

/**
 * @param {string} number
 * @param {Entry} entry
 * @param {readonly Citation[]} citations
 */
function proofOf(number, { untested }, citations) {
  if (untested !== undefined) return `none: ${cell(untested)}`;
  const tests = citations.filter(({ numbers }) => numbers.includes(number));
  const shown = chosen(tests);
  const rest = tests.length - shown.length;
  return [
    ...shown.map((test) => `\`${test.file}\`: ${cell(short(said(test, number)))}`),
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
 * Ranks a test by how little it explains what it cites. Best is one in a file of requirements that cites nothing else;
 * worst is a row of a table, whose name is computed, in a suite that `npm test` does not run.
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

/**
 * Returns the name to show for a number, with the group's name if only the group cites it.
 * @param {Citation} test
 * @param {string} number
 */
function said({ name, own, groups }, number) {
  const group = own.includes(number) ? undefined : groups.find((words) => words.includes(number));
  return group === undefined ? bare(name) : `${bare(group)}: ${bare(name)}`;
}

/**
 * Returns a name without its tags.
 * @param {string} name
 */
function bare(name) {
  return name.replace(/ \[[A-Z]\d[^\]]*\]$/, '').trim();
}

/** @param {string} words */
function short(words) {
  return words.length > maxCharacters ? `${words.slice(0, maxCharacters).trimEnd()}…` : words;
}

/** @param {string} text */
function cell(text) {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
