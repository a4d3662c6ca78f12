import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { simulate } from '@cobbler/conformance/simulation';
import type { PlantedBug } from '../../../packages/conformance/test/planted-bugs.ts';
import { plantedBugs } from '../../../packages/conformance/test/planted-bugs.ts';
import { Bench } from '../../mutants/src/bench.mjs';

/** Maximum number of seeds to find each bug. */
const maxSeeds = 2_000;

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Number of bugs to test at the same time. */
const copies = 2;

/** Runs in the copy: tries seeds from 1 until one finds the bug, and prints it as JSON, or nothing. */
const finder = `
import { simulate } from '@cobbler/conformance/simulation';
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
 * Plants each bug in a copy of the package and reports the seed that finds it. Resolves with whether all were found.
 * @param only selects the bugs whose name contains this text.
 */
export async function findPlanted(only: string): Promise<boolean> {
  const bugs = plantedBugs.filter(({ name }) => name.includes(only));
  const queue = [...bugs];
  let missed = 0;
  const work = async () => {
    const bench = await Bench.open(root);
    for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) {
      const found = await find(bench, bug);
      const isSound = found === undefined || (await simulate(found.seed)).violation === undefined;
      if (found === undefined || !isSound) missed += 1;
      print(bug, found, isSound);
    }
    bench.close();
  };
  await Promise.all(Array.from({ length: copies }, work));
  process.stdout.write(`${bugs.length - missed} of ${bugs.length} planted bugs found.\n`);
  return missed === 0 && bugs.length > 0;
}

/** @param isSound true if the seed breaks no promise without the bug. */
function print({ name }: PlantedBug, found: Found | undefined, isSound: boolean): void {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  if (found === undefined) return void write(`NOT FOUND in ${maxSeeds}  ${name}`);
  write(`seed ${String(found.seed).padStart(4)}  ${name}`);
  write(`           ${short(found)}`);
  if (!isSound) write('           This seed also fails without the bug. Fix that first.');
}

function short({ rule, message }: Found): string {
  return `${rule}: ${message.length > 140 ? `${message.slice(0, 140)} …` : message}`;
}

/** Returns the first seed that finds the bug in the copy. */
function find(bench: Bench, bug: PlantedBug): Promise<Found | undefined> {
  const cwd = bench.home('conformance');
  return bench.with({ ...bug, why: bug.name, home: 'agent' }, async () => {
    await writeFile(join(cwd, 'find.mjs'), finder);
    const flags = ['--conditions=@cobbler/source', 'find.mjs'];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd });
    return stdout.startsWith('{') ? (JSON.parse(stdout) as Found) : undefined;
  });
}
