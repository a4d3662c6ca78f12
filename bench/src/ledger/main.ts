// Prints the cost of prompts under the documented cache rules of both services, whether logs record what the services
// charge, and whether limits hold when processes are killed: `npm run bench -- ledger`.
//
// The first number after the command is the number of random workloads and trees of runs per wire; default 100. The second is
// the number of scenarios with killed processes, default 200, on SQLite and, if a URL follows, on that PostgreSQL database.
// Exits with 1 if a workload costs more than its bound, or a total or limit is wrong.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contrasts } from './contrasts.ts';
import { reportCrashes } from './crash-report.ts';
import { isEqual, performSpenders, withinBound } from './spenders.ts';
import { warmUp } from './stage.ts';
import type { Subject } from './subjects.ts';
import { bridged, subject, subjects } from './subjects.ts';
import { perform } from './work.ts';
import { extremes, randomWork, works } from './works.ts';

const [seeds = 100, scenarios = 200] = process.argv.slice(2, 4).map(Number);
const postgres = process.argv[4];
if (![seeds, scenarios].every((count) => Number.isInteger(count) && count >= 0)) {
  process.stdout.write(
    'Usage: npm run bench -- ledger [WORKLOADS] [SCENARIOS] [POSTGRES_URL]; by default 100 and 200.\n',
  );
  process.exit(process.argv[2] === '--help' ? 0 : 2);
}
const widths = { name: 54, column: 18 };
let missed = 0;

await warmUp([...subjects, ...bridged]);
print(
  'Billed input as a share of its price without a cache',
  subjects.map(({ name }) => name),
  'bound',
);
for (const { name, shape, most } of works) await row(name, shape, most);
await randomRow();
print('', [], '');
print('Workloads in which cached input is rarely read again', [], '');
for (const { name, shape, most } of extremes) await row(name, shape, most);
print('', [], '');
print(
  'Without one part of the policy',
  subjects.map(() => ''),
  'at least',
);
for (const { name, work, edit, least, ...contrast } of contrasts) {
  const shape = works.find((one) => one.name === work)?.shape;
  if (shape === undefined) throw new Error(`There is no workload named ${work}.`);
  const { share } = await perform(subject(contrast.subject), shape, { edit });
  const columns = subjects.map((one) => (one.name === contrast.subject ? share.toFixed(3) : ''));
  print(name, columns, least.toFixed(3));
  if (share < least) missed += 1;
}
await spendersRow(subjects);
await spendersRow(bridged);
if (scenarios > 0) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-ledger-'));
  await crashRows('SQLite', folder);
  rmSync(folder, { recursive: true });
  if (postgres !== undefined) await crashRows('PostgreSQL', postgres);
}
process.exitCode = missed === 0 ? 0 : 1;

async function row(name: string, shape: Parameters<typeof perform>[1], most: number): Promise<void> {
  const shares: number[] = [];
  for (const one of subjects) shares.push((await perform(one, shape)).share);
  judge(name, shares, most);
}

async function randomRow(): Promise<void> {
  const shares: number[] = [];
  for (const one of subjects) {
    let worst = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      worst = Math.max(worst, (await perform(one, randomWork(seed))).share);
    }
    shares.push(worst);
  }
  judge(`the worst of ${seeds} random workloads`, shares, 1);
}

/** Compares what trees of runs have recorded with what the services charge. */
async function spendersRow(subjects: readonly Subject[]): Promise<void> {
  const exact: string[] = [];
  const estimated: string[] = [];
  const wrong: string[] = [];
  for (const one of subjects) {
    const counts = { exact: 0, estimated: 0, wrong: 0 };
    for (let seed = 1; seed <= seeds; seed += 1) {
      const totals = await performSpenders(one, seed);
      const isExact = isEqual(totals);
      counts[isExact ? 'exact' : withinBound(totals, one) ? 'estimated' : 'wrong'] += 1;
    }
    exact.push(String(counts.exact));
    estimated.push(String(counts.estimated));
    wrong.push(String(counts.wrong));
    missed += counts.wrong;
  }
  print('', [], '');
  print(
    `Logs of ${seeds} trees of runs, compared with the bill`,
    subjects.map(({ name }) => name),
    'at most',
  );
  print('tokens and dollars are equal', exact, '');
  print('equal, except for marked estimates of cut responses', estimated, '');
  print('different', wrong, '0');
}

/** Kills processes whose runs share limits, and starts them again. */
async function crashRows(name: string, place: string): Promise<void> {
  const { kills, requests, broken } = await reportCrashes(place, scenarios);
  print('', [], '');
  print(`${name}: ${scenarios} limits, each shared by eight runs with sub-agents`, [], '');
  print('requests, and kills with SIGKILL', [String(requests), String(kills)], '');
  for (const [rule, numbers] of Object.entries(broken)) {
    missed += numbers.length;
    print(rule, [numbers.length === 0 ? '0' : `in ${numbers.join(', ')}`], '0');
  }
}

function judge(name: string, shares: readonly number[], most: number): void {
  if (shares.some((share) => share > most)) missed += 1;
  print(
    name,
    shares.map((share) => `${share.toFixed(3)}${share > most ? ' NOT MET' : ''}`),
    most.toFixed(3),
  );
}

function print(name: string, columns: readonly string[], bound: string): void {
  const cells = columns.map((column) => column.padStart(widths.column)).join('');
  process.stdout.write(`${name.padEnd(widths.name)}${cells}${bound.padStart(10)}\n`);
}
