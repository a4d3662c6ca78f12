// `npm run bench -- cancels`: cancels runs at random moments on every wire, with the real clock and real connections.
// It reports the time until the caller regains control, the time until the connection is closed, and the resources
// left open.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CancelFigures, ContractSubject } from '@cobbler/conformance';
import { drillCancels } from '@cobbler/conformance';
import { scripted } from '../../packages/conformance/test/subjects.ts';
import { subjects as claude } from '../../packages/provider-claude/test/subjects.ts';
import { subjects as openai } from '../../packages/provider-openai/test/subjects.ts';

/** The limit of promise 3, in milliseconds. */
const maxBackMs = 250;
const maxClosedMs = 1000;

/** Time after which closed resources must be gone from the process, in milliseconds. */
const goneMs = 2000;

export const subjects: readonly ContractSubject[] = [...claude, ...openai, scripted];

/** The results of cancelling runs on one wire, times in milliseconds. */
export interface CancelRow {
  readonly wire: string;
  readonly cancels: number;
  readonly answered: number;
  readonly backMedian: number;
  readonly backP99: number;
  readonly backWorst: number;
  readonly closedWorst: number;
  readonly timersLeft: number;
  /** The resources that keep the process alive, before and after. */
  readonly before: string;
  readonly after: string;
  readonly isKept: boolean;
}

/** Cancels `count` runs on one wire and compares the open resources before and after. */
export async function cancelRow(subject: ContractSubject, count: number, seed: number): Promise<CancelRow> {
  // Load everything before counting: what the first request loads is not left over from a cancel.
  await drillCancels(subject, { count: 3, seed });
  const before = await resources();
  const figures = await drillCancels(subject, { count, seed });
  const after = await resources();
  return {
    ...summary(figures),
    wire: subject.name,
    before,
    after,
    isKept: isKept(figures) && before === after,
  };
}

function isKept({ back, closed, timers }: CancelFigures): boolean {
  return Math.max(...back) <= maxBackMs && Math.max(0, ...closed) <= maxClosedMs && timers === 0;
}

function summary({ back, closed, answered, timers }: CancelFigures) {
  const sorted = back.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return {
    cancels: back.length,
    answered,
    backMedian: at(0.5),
    backP99: at(0.99),
    backWorst: at(1),
    closedWorst: Math.max(0, ...closed),
    timersLeft: timers,
  };
}

/** Returns the number of resources that keep the process alive, by kind, once the process is idle. */
async function resources(): Promise<string> {
  const end = performance.now() + goneMs;
  let before = '';
  for (let same = 0; same < 10 && performance.now() < end; ) {
    await sleep(10);
    const now = resourcesNow();
    same = now === before ? same + 1 : 0;
    before = now;
  }
  return before;
}

function resourcesNow(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return (
    [...counts]
      .map(([kind, count]) => `${kind} ${count}`)
      .toSorted()
      .join(', ') || 'nothing'
  );
}

/** Formats the rows as a table. */
export function cancelTable(rows: readonly CancelRow[]): string {
  const ms = (value: number) => value.toFixed(1);
  const lines = rows.map(({ wire, cancels, answered, timersLeft, isKept: kept, ...row }) => [
    wire,
    String(cancels),
    String(answered),
    ms(row.backMedian),
    ms(row.backP99),
    ms(row.backWorst),
    ms(row.closedWorst),
    String(timersLeft),
    row.before === row.after ? `unchanged: ${row.after}` : `${row.before} -> ${row.after}`,
    kept ? 'kept' : 'BROKEN',
  ]);
  const heads = [
    'wire',
    'cancels',
    'answered',
    'returns p50',
    'p99',
    'worst',
    'closed',
    'timers',
    'resources',
    'promise 3',
  ];
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const print = (cells: readonly string[]) =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return `${[heads, ...lines].map(print).join('\n')}\n`;
}

async function main(count: number, seed: number): Promise<number> {
  const rows: CancelRow[] = [];
  for (const subject of subjects) rows.push(await cancelRow(subject, count, seed));
  process.stdout.write(cancelTable(rows));
  process.stdout.write(
    `Milliseconds from the cancel to the end of the run (at most ${maxBackMs}) and to the end of its connection (at most ${maxClosedMs}); seed ${seed}.\n`,
  );
  return rows.every((row) => row.isKept) ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [count = '200', seed = '1'] = process.argv.slice(2);
  const code = await main(Number(count), Number(seed));
  // Resources left open by a cancel would keep the process alive.
  process.stdout.write('', () => process.exit(code));
}
