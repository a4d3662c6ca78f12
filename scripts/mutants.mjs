// Proves that the contract of a provider notices mistakes: `node scripts/mutants.mjs packages/provider-x`.
//
// The package names its mutants in test/mutants.ts and what the contract runs on in test/subjects.ts. Each
// mutant is applied to a copy of the package in the temporary folder, the contract runs on the copy until its
// first failing case, and that case has killed the mutant. Ends with 1 when a mutant survives.

import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A run that takes longer hangs, which is a failure too. Milliseconds. */
const patience = 60_000;

/**
 * Runs in the copy, two cases at a time because some only wait, and the laws with fewer seeds than in the
 * tests. Says the first failing case as JSON, or nothing.
 */
const runner = `
import { agentContract } from '@cobbler/agent/testing';
import { subjects } from './test/subjects.ts';
const all = subjects.flatMap((subject) =>
  agentContract(subject, { seeds: { count: 40 } }).map((one) => ({ subject: subject.name, ...one })),
);
const queue = all.filter(({ off }) => off === undefined);
async function work() {
  for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
    try {
      await one.run();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      console.log(JSON.stringify({ subject: one.subject, name: one.group + ': ' + one.name, message }));
      process.exit(1);
    }
  }
}
await Promise.all(Array.from({ length: 2 }, work));
process.exit(0);
`;

async function main() {
  const folder = process.argv[2];
  if (folder === undefined) {
    console.error('Name a package: node scripts/mutants.mjs packages/provider-claude');
    process.exit(2);
  }
  const home = resolve(folder);
  const { mutants } = await import(pathToFileURL(join(home, 'test/mutants.ts')).href);
  const sound = await runCopy(home, undefined);
  if (sound.failure !== undefined) {
    console.error(`The contract fails without any mutant: ${sound.failure}`);
    process.exit(1);
  }
  console.log(`The contract holds without mutants (${seconds(sound.ms)}).`);
  const outcomes = await inParallel(mutants, (mutant) => runCopy(home, mutant).then(report(mutant)));
  const killed = outcomes.filter((outcome) => outcome.killed).length;
  const slowest = Math.max(...outcomes.map((outcome) => outcome.ms));
  console.log(`${killed} of ${mutants.length} mutants killed, the slowest in ${seconds(slowest)}.`);
  process.exit(killed === mutants.length ? 0 : 1);
}

function report(mutant) {
  return ({ failure, ms }) => {
    const killed = failure !== undefined;
    console.log(
      `${killed ? 'killed  ' : 'SURVIVED'} ${mutant.why}${killed ? `\n         by ${failure}` : ''}`,
    );
    return { killed, ms };
  };
}

/** Applies a mutant to a copy of the package and runs the contract on it. */
async function runCopy(home, mutant) {
  const copy = await mkdtemp(join(tmpdir(), 'cobbler-mutant-'));
  try {
    for (const part of ['src', 'test', 'package.json'])
      await cp(join(home, part), join(copy, part), { recursive: true });
    await symlink(join(home, 'node_modules'), join(copy, 'node_modules'));
    await writeFile(join(copy, 'contract.mjs'), runner);
    if (mutant !== undefined) await apply(mutant, copy);
    return await run(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function apply({ file, find, replace, why }, copy) {
  const path = join(copy, file);
  const parts = (await readFile(path, 'utf8')).split(find);
  if (parts.length !== 2)
    throw new Error(`The place of the mutant "${why}" stands ${parts.length - 1} times in ${file}.`);
  await writeFile(path, parts.join(replace));
}

function run(copy) {
  const started = performance.now();
  const child = spawn(process.execPath, ['--conditions=@cobbler/source', 'contract.mjs'], { cwd: copy });
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
      const ms = performance.now() - started;
      settle({ ms, failure: code === 0 ? undefined : describe(out, err) });
    });
  });
}

function describe(out, err) {
  const line = out.split('\n').find((text) => text.startsWith('{'));
  if (line === undefined) return `a crash: ${err.trim().slice(0, 300) || 'no case ended in time'}`;
  const { subject, name, message } = JSON.parse(line);
  return `${subject}, ${name}: ${message.slice(0, 160)}`;
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
