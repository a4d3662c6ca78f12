// Prints the cost of prompts under the documented cache rules of both services: `npm run bench -- ledger`.
//
// The number after the command is the number of random workloads per wire; default 100. Exits with 1 if a workload
// costs more than its bound.
import { contrasts } from './contrasts.ts';
import { warmUp } from './stage.ts';
import { subject, subjects } from './subjects.ts';
import { perform } from './work.ts';
import { extremes, randomWork, works } from './works.ts';

const seeds = Number(process.argv[2] ?? 100);
const widths = { name: 54, column: 18 };
let missed = 0;

await warmUp(subjects);
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

function judge(name: string, shares: readonly number[], most: number): void {
  if (shares.some((share) => share > most)) missed += 1;
  print(
    name,
    shares.map((share) => `${share.toFixed(3)}${share > most ? ' MISSED' : ''}`),
    most.toFixed(3),
  );
}

function print(name: string, columns: readonly string[], bound: string): void {
  const cells = columns.map((column) => column.padStart(widths.column)).join('');
  process.stdout.write(`${name.padEnd(widths.name)}${cells}${bound.padStart(10)}\n`);
}
