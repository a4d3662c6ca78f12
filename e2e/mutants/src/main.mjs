// Proves that the tests detect mistakes, and which promise each test covers:
//
//   npm run verify -- mutants                               every package with mutants
//   npm run verify -- mutants packages/provider-claude   some packages
//   npm run verify -- mutants --only 'retry'             those whose file or reason contains the words
//
// A package lists its mutants in test/mutants.ts, and its contract cases in test/checks.ts or, for the agent
// contract, test/subjects.ts. `by` of a mutant names the tests that must detect it: a file of unit tests or the
// start of a case's name. `breaks` names what it breaks: a promise (P9) or a requirement (S0.16). The mutant is
// written into a copy of the package, where the tests in `by` run until one fails: first those that cite what it
// breaks. A test that cites it kills the mutant by failing or by not ending in time. Exits with 1 if a mutant
// survives, is detected only by tests that cite something else, cannot be loaded or no longer applies, or if no
// mutant proves a promise. How to add one: docs/mutants.md.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Bench, placesIn } from './bench.mjs';
import { endProbes, longPatience, probeCases, probeUnits } from './probe.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Number of mutants to test at the same time. More would make the tests of the clock fail on two cores. */
const atATime = 2;

/** The verdicts in the order of the final list, with their meaning. */
const faults = {
  survived: 'SURVIVED: no test in `by` fails',
  uncited: 'UNCITED: detected, but not by a test that cites what it breaks',
  broken: 'BROKEN: the mutant cannot be loaded, so nothing was tested',
  invalidPosition: 'MISPLACED: the code that the mutant changes does not occur exactly once in its file',
};

const usage = `npm run verify -- mutants [PACKAGE...] [--only WORDS]...

Plants one bug at a time, and expects a test to fail. Exits with 1 if a bug is not detected.

  PACKAGE        a directory, such as packages/provider-claude (default: every package with mutants)
  --only WORDS   only mutants whose file or reason contains these words; repeatable
  --help         print this help

See docs/mutants.md.`;

/** Parses the arguments. Prints an error and returns undefined if they are invalid. */
function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string', multiple: true, default: [''] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error;
    const [problem] = message.split(/\.\s/);
    console.error(`Cannot run mutants: ${problem}. See: npm run verify -- mutants --help`);
    return undefined;
  }
}

async function main() {
  const given = readArguments();
  if (given === undefined) return 2;
  const { positionals, values } = given;
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const folders = positionals.length > 0 ? positionals : packagesWithMutants();
  const { mutants: all, promises } = await mutantsOf(folders);
  const wanted = all.filter((mutant) => values.only.some((words) => nameOf(mutant).includes(words)));
  const [mutants, invalidPosition] = [
    wanted.filter(isInPlace),
    wanted.filter((mutant) => !isInPlace(mutant)),
  ];
  for (const mutant of invalidPosition) console.log(`MISPLACED ${nameOf(mutant)}`);
  if (wanted.length === 0) console.log('No mutant has these words in its file or reason.');
  if (wanted.length === 0) return 1;
  const isAll = wanted.length === all.length && positionals.length === 0;
  const outcomes = await onBenches((benches) => tryAll(benches, mutants));
  if (outcomes === undefined) return 1;
  outcomes.push(
    ...invalidPosition.map((mutant) => ({ mutant, ms: 0, verdict: 'invalidPosition', tests: [] })),
  );
  printAreas(outcomes);
  const unproven = printPromises(outcomes, isAll ? promises : []);
  return printVerdict(outcomes, unproven);
}

function packagesWithMutants() {
  return ['packages', 'apps']
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name)))
    .filter((folder) => existsSync(join(root, folder, 'test/mutants.ts')));
}

/** Returns every mutant with its package, and every promise that must be proven. */
async function mutantsOf(folders) {
  const mutants = [];
  const promises = [];
  for (const folder of folders) {
    const path = join(resolve(root, folder), 'test/mutants.ts');
    const table = await import(pathToFileURL(path).href);
    const home = basename(resolve(root, folder));
    // The cases of a contract run in the package that has their subjects.
    const cases = table.casesIn ?? home;
    mutants.push(...table.mutants.map((mutant) => ({ ...mutant, folder, home, cases })));
    promises.push(...(table.promises ?? []));
  }
  return { mutants, promises };
}

function isInPlace(mutant) {
  const path = join(resolve(root, mutant.folder), mutant.file);
  return existsSync(path) && placesIn(readFileSync(path, 'utf8'), mutant) === 1;
}

/** Opens one bench per parallel mutant, and always removes them at the end. */
async function onBenches(work) {
  const benches = [];
  const end = () => {
    endProbes();
    for (const bench of benches) bench.close();
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  try {
    for (let count = 0; count < atATime; count++) benches.push(await Bench.open(root));
    return await work(benches);
  } finally {
    for (const bench of benches) bench.close();
  }
}

/** Returns the outcome of each mutant, or undefined if the tests fail without any mutant. */
async function tryAll(benches, mutants) {
  const began = performance.now();
  const problems = await inParallel(benches, soundnessChecks(mutants), (bench, check) => check(bench));
  const found = problems.filter((problem) => problem !== undefined);
  for (const problem of found) console.log(`UNSOUND: ${problem}`);
  if (found.length > 0) return undefined;
  console.log(`The tests pass without mutants (${seconds(performance.now() - began)}).`);
  return inParallel(benches, mutants, async (bench, mutant) => {
    const started = performance.now();
    const outcome = await bench.with(mutant, () => outcomeOf(bench, mutant));
    return report({ mutant, ms: performance.now() - started, ...outcome });
  });
}

/** Returns the checks to pass before a mutant can be judged: the tests named in `by` exist and pass. */
function soundnessChecks(mutants) {
  const checks = [];
  for (const [home, members] of Map.groupBy(mutants, (mutant) => mutant.home)) {
    const names = [...new Set(members.map(({ by }) => by))];
    const files = names.filter(isFile);
    const beginnings = names.filter((name) => !isFile(name));
    const [{ cases = home } = {}] = members;
    if (files.length > 0)
      checks.push((bench) => unsoundness(home, files, probeUnits(bench, home, files, '', longPatience)));
    if (beginnings.length > 0)
      checks.push((bench) =>
        unsoundness(cases, beginnings, probeCases(bench, cases, beginnings, '', longPatience)),
      );
  }
  return checks;
}

async function unsoundness(home, names, probe) {
  const { taken, failure, error } = await probe;
  if (failure !== undefined)
    return `${home}: fails without any mutant: ${failure.tests.join(', ')}: ${brief(failure.message)}`;
  const missing = names.filter((name) => !taken.some((test) => test.startsWith(name)));
  if (missing.length === 0) return undefined;
  return `${home}: no test starts with ${missing.join(' or ')}. ${error ?? ''}`;
}

async function outcomeOf(bench, { home, cases, by, breaks }) {
  const citing = breaks.length > 0 ? patternOf(breaks) : '';
  const probes = isFile(by)
    ? [() => probeUnits(bench, home, [by], citing), () => probeUnits(bench, home, [by], '')]
    : [() => probeCases(bench, cases, [by], citing)];
  for (const probe of probes) {
    const { failure, error } = await probe();
    if (error !== undefined) return { verdict: 'broken', message: error, tests: [], hung: false };
    if (failure === undefined) continue;
    const tests = failure.tests.filter((name) => new RegExp(citing).test(name));
    const isCited = tests.length > 0 || (isFile(by) && failure.tests.length === 0 && probe === probes[0]);
    return { verdict: isCited ? 'killed' : 'uncited', ...failure, tests: isCited ? tests : failure.tests };
  }
  return { verdict: 'survived', tests: [], message: '', hung: false };
}

function report(outcome) {
  const { mutant, verdict, tests, message, hung, ms } = outcome;
  const word = verdict === 'killed' ? 'killed' : verdict.toUpperCase();
  console.log(`${word.padEnd(8)} ${seconds(ms).padStart(6)}  ${nameOf(mutant)}`);
  if (verdict !== 'survived') {
    const how = hung ? 'by time-out' : 'by';
    console.log(`                 ${how} ${tests.join(', ') || mutant.by}: ${brief(message)}`);
  }
  return outcome;
}

/** Prints one line for each source file. */
function printAreas(outcomes) {
  console.log('\nBy area: killed of all, seconds\n');
  const areas = Map.groupBy(outcomes, ({ mutant }) => areaOf(mutant));
  for (const [area, members] of [...areas].sort(([left], [right]) => left.localeCompare(right))) {
    const ms = members.reduce((sum, outcome) => sum + outcome.ms, 0);
    const killed = `${members.filter(isKilled).length} of ${members.length}`;
    console.log(`  ${area.padEnd(40)} ${killed.padStart(8)} ${seconds(ms).padStart(8)}`);
  }
}

/** Prints the killed mutants that prove each promise. Returns the promises without any. */
function printPromises(outcomes, promises) {
  console.log('\nBy promise: mutants that a test which cites it has killed\n');
  const proofs = new Map(promises.map((promise) => [promise, []]));
  for (const { mutant, tests } of outcomes.filter(isKilled))
    for (const promise of mutant.breaks)
      if (tests.some((name) => new RegExp(patternOf([promise])).test(name)))
        proofs.set(promise, [...(proofs.get(promise) ?? []), mutant]);
  for (const [promise, mutants] of [...proofs].sort(([left], [right]) => byNumber(left, right))) {
    console.log(`  ${promise}: ${mutants.length === 0 ? 'NOTHING PROVES IT' : mutants.length}`);
    for (const mutant of mutants) console.log(`      ${nameOf(mutant)}`);
  }
  return promises.filter((promise) => proofs.get(promise)?.length === 0);
}

function printVerdict(outcomes, unproven) {
  const ms = performance.now();
  const killed = outcomes.filter(isKilled);
  const hung = killed.filter((outcome) => outcome.hung).length;
  const aside = hung > 0 ? ` (${hung} by time-out)` : '';
  console.log(`\n${killed.length} of ${outcomes.length} mutants killed${aside} in ${seconds(ms)}.`);
  for (const [verdict, words] of Object.entries(faults)) {
    const members = outcomes.filter((outcome) => outcome.verdict === verdict);
    if (members.length > 0) console.log(`\n${words}:`);
    for (const { mutant } of members) console.log(`  ${nameOf(mutant)} (by ${mutant.by})`);
  }
  if (unproven.length > 0) console.log(`\nNo mutant proves ${unproven.join(', ')}.`);
  return killed.length === outcomes.length && unproven.length === 0 ? 0 : 1;
}

const patternOf = (words) => `\\b(${words.join('|').replaceAll('.', '\\.')})\\b`;
const isKilled = ({ verdict }) => verdict === 'killed';
const isFile = (by) => by.endsWith('.test.ts');
const nameOf = (mutant) => `${areaOf(mutant)}: ${mutant.why}`;
const areaOf = ({ home, file }) => `${home}/${file.replace(/^src\//, '').replace(/\.ts$/, '')}`;
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const brief = (message) => message.split('\n')[0].slice(0, 160);
const byNumber = (left, right) => left.localeCompare(right, 'en', { numeric: true });

async function inParallel(benches, items, work) {
  const results = [];
  const queue = [...items.entries()];
  const worker = async (bench) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results[next[0]] = await work(bench, next[1]);
  };
  await Promise.all(benches.map(worker));
  return results;
}

process.exitCode = await main();
