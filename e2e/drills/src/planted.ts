import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulate } from '@cobbler/conformance';
import type { PlantedBug } from '../../../packages/conformance/test/planted-bugs.ts';
import { plantedBugs } from '../../../packages/conformance/test/planted-bugs.ts';

/** Within so many seeds each bug has to be found. */
const maxSeeds = 2_000;

const packages = fileURLToPath(new URL('../../../packages', import.meta.url));

/** Runs in the copy: seeds from 1 on until one notices. Says which as JSON, or nothing. */
const finder = `
import { simulate } from '@cobbler/conformance';
const rejected = [];
process.on('unhandledRejection', (reason) => rejected.push(reason));
const unhandled = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  return rejected.splice(0);
};
for (let seed = 1; seed <= ${maxSeeds}; seed += 1) {
  const { violation } = await simulate(seed, { unhandled });
  if (violation === undefined) continue;
  console.log(JSON.stringify({ seed, ...violation }));
  break;
}
`;

interface Found {
  readonly seed: number;
  readonly rule: string;
  readonly message: string;
}

/**
 * Plants each bug in a copy of the package and tells the seed that finds it. Resolves with whether all were found.
 * @param only takes the bugs whose name contains this.
 */
export async function findPlanted(only: string): Promise<boolean> {
  const bugs = plantedBugs.filter(({ name }) => name.includes(only));
  const queue = [...bugs];
  let missed = 0;
  const work = async () => {
    for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) {
      const found = await find(bug);
      const isSound = found === undefined || (await simulate(found.seed)).violation === undefined;
      if (found === undefined || !isSound) missed += 1;
      print(bug, found, isSound);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  process.stdout.write(`${bugs.length - missed} of ${bugs.length} planted bugs found.\n`);
  return missed === 0 && bugs.length > 0;
}

/** @param isSound the seed breaks no promise without the bug. */
function print({ name }: PlantedBug, found: Found | undefined, isSound: boolean): void {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  if (found === undefined) return void write(`NOT FOUND in ${maxSeeds}  ${name}`);
  write(`seed ${String(found.seed).padStart(4)}  ${name}`);
  write(`           ${short(found)}`);
  if (!isSound) write('           This seed fails without the bug as well: mend that first.');
}

function short({ rule, message }: Found): string {
  return `${rule}: ${message.length > 140 ? `${message.slice(0, 140)} …` : message}`;
}

async function find(bug: PlantedBug): Promise<Found | undefined> {
  const copy = await mkdtemp(join(tmpdir(), 'cobbler-planted-'));
  try {
    for (const name of ['agent', 'conformance'])
      for (const part of ['src', 'package.json'])
        await cp(join(packages, name, part), join(copy, name, part), { recursive: true });
    await symlink(join(packages, 'agent/node_modules'), join(copy, 'agent/node_modules'));
    // The suites of the copy use the loop of the copy.
    await mkdir(join(copy, 'node_modules/@cobbler'), { recursive: true });
    for (const name of ['agent', 'conformance'])
      await symlink(join(copy, name), join(copy, 'node_modules/@cobbler', name));
    await writeFile(join(copy, 'find.mjs'), finder);
    await plant(bug, join(copy, 'agent'));
    const out = await run(copy);
    return out.startsWith('{') ? (JSON.parse(out) as Found) : undefined;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function plant({ file, find, replace, name }: PlantedBug, copy: string): Promise<void> {
  const path = join(copy, file);
  const parts = (await readFile(path, 'utf8')).split(find);
  if (parts.length !== 2)
    throw new Error(`The place of the bug "${name}" stands ${parts.length - 1} times in ${file}.`);
  await writeFile(path, parts.join(replace));
}

function run(copy: string): Promise<string> {
  const child = spawn(process.execPath, ['--conditions=@cobbler/source', 'find.mjs'], { cwd: copy });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out.trim());
      else reject(new Error(`The simulation itself failed: ${err.trim().slice(0, 500)}`));
    });
  });
}
