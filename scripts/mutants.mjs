// Proves that the tests notice mistakes: `npm run mutants` for every package that names mutants, or
// `npm run mutants packages/provider-claude` for some.
//
// A package names its mutants in test/mutants.ts and what has to notice them in test/checks.ts (contracts as
// lists of cases, and files of unit tests) or test/subjects.ts (what the agent contract runs on). Each mutant
// is applied to a copy of the package in the temporary folder; the checks run on the copy until something
// fails, which has killed the mutant. A mutant may say in `by` what is likely to notice it, which then runs
// first. A case that fails is run again, alone, before it counts: a busy machine kills nothing. Ends with 1
// when a mutant survives. `--only WORDS` takes only those whose reason holds the words.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A run that takes longer hangs, which is a failure too. Milliseconds. */
const patience = 240_000;

/** What a provider's package is checked by unless it says otherwise. */
const subjectChecks = `
import { agentContract } from '@cobbler/agent/testing';
import { subjects } from './subjects.ts';
export const checks = subjects.map((subject) => ({
  name: subject.name,
  cases: () => agentContract({ ...subject, slack: 8 }, { seeds: { count: 40 } }),
}));
`;

/** Runs cases in the copy, two at a time because some only wait. Says the first failing case as JSON, or nothing. */
const runner = `
import { checks } from './test/checks.ts';
const by = process.argv[2] ?? '';
const all = checks.flatMap(({ name, cases }) =>
  cases().map((one) => ({ ...one, name: name + ': ' + one.group + ': ' + one.name })),
);
const queue = all.filter(({ off }) => off === undefined);
const isLikely = ({ name }) => by !== '' && name.startsWith(by);
queue.sort((left, right) => isLikely(right) - isLikely(left));
const suspects = [];
async function problemOf(one) {
  try {
    await one.run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
async function work() {
  while (queue.length > 0 && suspects.length === 0) {
    const one = queue.shift();
    if ((await problemOf(one)) !== undefined) suspects.push(one);
  }
}
while (queue.length > 0) {
  await Promise.all([work(), work()]);
  for (const { name, run } of suspects.splice(0)) {
    const message = await problemOf({ run });
    if (message === undefined) continue;
    console.log(JSON.stringify({ name, message }));
    process.exit(1);
  }
}
process.exit(0);
`;

const vitestConfig = `
const conditions = ['@cobbler/source', 'node', 'import', 'module', 'default'];
export default {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { isolate: false, fileParallelism: false, testTimeout: 20_000, watch: false },
};
`;

async function main() {
  const { positionals: folders, values } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string', multiple: true, default: [''] } },
  });
  const isWanted = ({ why }) => values.only.some((words) => why.includes(words));
  const homes = (folders.length > 0 ? folders : packagesWithMutants()).map((folder) => resolve(root, folder));
  const began = performance.now();
  const survivors = [];
  let count = 0;
  for (const home of homes) {
    const all = (await import(pathToFileURL(join(home, 'test/mutants.ts')).href)).mutants;
    const mutants = all.filter(isWanted);
    if (mutants.length === 0) continue;
    count += mutants.length;
    survivors.push(...(await survivorsOf(home, mutants)));
  }
  console.log(
    `\n${count - survivors.length} of ${count} mutants killed in ${seconds(performance.now() - began)}.`,
  );
  for (const survivor of survivors) console.log(`SURVIVED ${survivor}`);
  process.exit(survivors.length === 0 ? 0 : 1);
}

function packagesWithMutants() {
  return readdirSync(join(root, 'packages'))
    .map((name) => join('packages', name))
    .filter((folder) => existsSync(join(root, folder, 'test/mutants.ts')));
}

async function survivorsOf(home, mutants) {
  const name = home.slice(root.length + 1);
  const units = await unitsOf(home);
  const snapshot = await takeSnapshot(home);
  let outcomes;
  try {
    const sound = await runCopy(snapshot, units, undefined);
    if (sound.failure !== undefined) {
      console.error(`${name}: the checks fail without any mutant: ${sound.failure}`);
      return [`${name}: all, since its checks fail without any`];
    }
    console.log(`${name}: the checks hold without mutants (${seconds(sound.ms)}).`);
    outcomes = await inParallel(mutants, (mutant) => runCopy(snapshot, units, mutant).then(report(mutant)));
  } finally {
    await rm(snapshot, { recursive: true, force: true });
  }
  const slowest = Math.max(...outcomes.map(({ ms }) => ms));
  const alive = mutants.filter((_, index) => outcomes[index].failure === undefined);
  console.log(
    `${name}: ${mutants.length - alive.length} of ${mutants.length} killed, the slowest in ${seconds(slowest)}.`,
  );
  return alive.map(({ file, why }) => `${name}/${file}: ${why}`);
}

/** The unit tests that a package's mutants may be noticed by, as paths below its folder. */
async function unitsOf(home) {
  const path = join(home, 'test/checks.ts');
  if (!existsSync(path)) return [];
  const { units = [] } = await import(pathToFileURL(path).href);
  return units;
}

function report(mutant) {
  return (outcome) => {
    const { failure, ms } = outcome;
    const verdict = failure === undefined ? 'SURVIVED' : 'killed  ';
    const by = failure === undefined ? '' : `\n         by ${failure}`;
    console.log(`${verdict} ${seconds(ms).padStart(7)}  ${mutant.why}${by}`);
    return outcome;
  };
}

/** Applies a mutant to a copy of the package and runs the checks on it: what is likely to notice it first. */
async function runCopy(snapshot, units, mutant) {
  const copy = await mkdtemp(join(tmpdir(), 'cobbler-mutant-'));
  const started = performance.now();
  try {
    await cp(snapshot, copy, { recursive: true, verbatimSymlinks: true });
    if (mutant !== undefined) await apply(mutant, copy);
    const by = mutant?.by ?? '';
    const failure = by.endsWith('.test.ts')
      ? ((await runUnits(copy, [by])) ?? (await runCases(copy, '')) ?? (await runUnits(copy, units)))
      : ((await runCases(copy, by)) ?? (await runUnits(copy, units)));
    return { ms: performance.now() - started, failure };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** The package as it is now: somebody may change it while mutants run. */
async function takeSnapshot(home) {
  const snapshot = await mkdtemp(join(tmpdir(), 'cobbler-mutants-'));
  for (const part of ['src', 'test', 'package.json'])
    await cp(join(home, part), join(snapshot, part), { recursive: true });
  const modules = join(snapshot, 'node_modules');
  await mkdir(modules);
  for (const from of [join(home, 'node_modules'), join(root, 'node_modules')]) {
    for (const entry of await readdir(from)) {
      if (!entry.startsWith('.') && !existsSync(join(modules, entry)))
        await symlink(join(from, entry), join(modules, entry));
    }
  }
  await writeFile(join(snapshot, 'cases.mjs'), runner);
  await writeFile(join(snapshot, 'vitest.config.mjs'), vitestConfig);
  if (!existsSync(join(snapshot, 'test/checks.ts')))
    await writeFile(join(snapshot, 'test/checks.ts'), subjectChecks);
  return snapshot;
}

async function apply({ file, find, replace, why }, copy) {
  const path = join(copy, file);
  const parts = (await readFile(path, 'utf8')).split(find);
  if (parts.length !== 2)
    throw new Error(`The place of the mutant "${why}" stands ${parts.length - 1} times in ${file}.`);
  await writeFile(path, parts.join(replace));
}

async function runCases(copy, by) {
  const { code, out, err } = await run(['--conditions=@cobbler/source', 'cases.mjs', by], copy);
  if (code === 0) return undefined;
  const line = out.split('\n').find((text) => text.startsWith('{"name"'));
  if (line === undefined) return `a crash: ${lastOf(err) || 'it did not end in time'}`;
  const { name, message } = JSON.parse(line);
  return `${name}: ${message.slice(0, 160)}`;
}

async function runUnits(copy, files) {
  if (files.length === 0) return undefined;
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { code, out, err } = await run([vitest, 'run', '--reporter=tap-flat', ...files], copy);
  if (code === 0) return undefined;
  const line = out.split('\n').find((text) => text.startsWith('not ok'));
  return (line ?? `a crash: ${lastOf(err) || 'it did not end in time'}`)
    .replace(/ # time=.*/, '')
    .slice(0, 240);
}

function run(args, cwd) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, CI: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), patience);
  return new Promise((settle) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      settle({ code, out, err });
    });
  });
}

function lastOf(text) {
  return text
    .split('\n')
    .filter((line) => /\w/.test(line) && !/^\s+at /.test(line))
    .slice(-4)
    .join(' ')
    .slice(0, 240);
}

async function inParallel(items, work) {
  const results = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return results;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

await main();
