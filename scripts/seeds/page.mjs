// Writes the pages that say which test proves what.

/**
 * @typedef {import('./citations.mjs').Citation} Citation
 * @typedef {import('./table.mjs').Table} Table
 * @typedef {import('./table.mjs').Entry} Entry
 */

/** How many tests of one number are shown. */
const maxShown = 3;

/** How long the name of a test may be. */
const maxCharacters = 96;

const notice =
  '<!-- Written by `npm run docs:seeds` from scripts/seeds and the names of the tests: change those. -->';

/**
 * @param {readonly Table[]} tables
 * @param {readonly Citation[]} citations
 * @returns {string}
 */
export function seedsPage(tables, citations) {
  const numbers = tables.flatMap(({ entries }) => Object.keys(entries));
  const lines = [
    '# Requirements',
    '',
    notice,
    '',
    `Cobbler began with five specifications, the seeds. Their ${numbers.length} requirements stand here: what each asks`,
    'for, where that is done, and the tests that prove it. At the end is every departure from their letter.',
    '',
    'A test carries the numbers it proves at the end of its name, three at most: `npm test -- -t "S0.16"` runs those of one.',
    'Up to three are shown. What lies in `e2e` or `faces` runs in a suite of its own: see the README.',
    '',
  ];
  for (const { id, title, entries } of tables) {
    lines.push(`## ${id}: ${title}`, '', '| | Asks for | Stands in | Tests |', '|---|---|---|---|');
    for (const [number, entry] of Object.entries(entries))
      lines.push(
        `| ${number} | ${cell(entry.asks)} | ${filesOf(entry)} | ${proofOf(number, entry, citations)} |`,
      );
    lines.push('');
  }
  lines.push('## Departures', '', '| | Seed | Here | Why |', '|---|---|---|---|');
  for (const { of, seed, here, why } of tables.flatMap(({ departures = [] }) => departures))
    lines.push(`| ${of.join(', ')} | ${cell(seed)} | ${cell(here)} | ${cell(why)} |`);
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
    'What you can rely on, and the tests that prove it. A test carries the numbers of its promises at the end of its name:',
    '`npm test -- -t "P9\\b"` runs those of one, and `npm run mutants` shows for each promise of the core that planted',
    'mistakes are noticed. What lies in `e2e` or `faces` runs in a suite of its own: see the README.',
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
 * The clearest, of each file one first.
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
 * How little a test says at a glance about what it cites: best is one of a seed's own file that cites nothing else,
 * worst a row of a table, whose name is put together, in a suite that `npm test` does not run.
 * @param {Citation} test
 */
function obscurity({ file, name, numbers }) {
  return (
    numbers.length +
    (/\/(seed-s\d|requirements)\.test/.test(file) ? 0 : 4) +
    (/^(packages|apps)\/[^/]+\/(src|test)\//.test(file) ? 0 : 8) +
    (file.startsWith('packages/') ? 0 : 1) +
    (/…|%\w|\$\w/.test(name) ? 8 : 0)
  );
}

/**
 * What a test says of a number; of one that its group cites, the group's words too.
 * @param {Citation} test
 * @param {string} number
 */
function said({ name, own, groups }, number) {
  const group = own.includes(number) ? undefined : groups.find((words) => words.includes(number));
  return group === undefined ? bare(name) : `${bare(group)}: ${bare(name)}`;
}

/**
 * A name without the tags at its end.
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
