import type { ContractProblem } from '@cobbler/conformance';
import { runContract } from '@cobbler/conformance';
import { heldBytes } from '../../../packages/conformance/src/agent/setup/memory.ts';
import type { Suite } from './suite.ts';

/** Maximum memory that a suite may retain after its cases, in MiB, including its modules. */
const maxHeld = 64;

/** The result of one suite. */
export interface Column {
  readonly name: string;
  /** Number of passed cases and of all cases, by group. */
  readonly groups: ReadonlyMap<string, { readonly passed: number; readonly total: number }>;
  /** Number of cases that are off, by reason. */
  readonly off: ReadonlyMap<string, number>;
  readonly failures: readonly ContractProblem[];
  readonly seconds: number;
  readonly heldMiB: number;
}

/** Runs a suite. `troubles` collects errors of the process in the meantime, which count as failures of the suite. */
export async function runSuite(suite: Suite, troubles: string[]): Promise<Column> {
  const began = performance.now();
  const before = await heldBytes();
  const groups = new Map<string, { passed: number; total: number }>();
  const off = new Map<string, number>();
  const failures: ContractProblem[] = [];
  for (const [group, members] of Map.groupBy(suite.cases(), (member) => member.group)) {
    const totals = await runContract(members);
    groups.set(group, totals);
    failures.push(...totals.failures);
    for (const { off: reason } of members)
      if (reason !== undefined) off.set(reason, (off.get(reason) ?? 0) + 1);
  }
  await suite.close?.();
  // Unhandled errors of the last case are reported a moment later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const message of troubles.splice(0)) failures.push({ group: 'process', name: 'no trouble', message });
  const heldMiB = ((await heldBytes()) - before) / 2 ** 20;
  if (suite.heldBy === undefined && heldMiB > maxHeld) {
    const message = `${heldMiB.toFixed(0)} MiB are retained`;
    failures.push({ group: 'process', name: `retains at most ${maxHeld} MiB`, message });
  }
  return { name: suite.name, groups, off, failures, seconds: (performance.now() - began) / 1000, heldMiB };
}

/** Formats the table: groups as rows, suites as columns. */
export function table(columns: readonly Column[]): string {
  const names = new Set(columns.flatMap(({ groups }) => [...groups.keys()]));
  const rows = [...names].map((group) => [
    group,
    ...columns.map(({ groups }) => {
      const counts = groups.get(group);
      if (counts === undefined) return '';
      const { passed, total } = counts;
      return passed === total ? `${passed}/${total}` : `FAILED ${passed}/${total}`;
    }),
  ]);
  const sum = (column: Column, key: 'passed' | 'total') =>
    [...column.groups.values()].reduce((added, counts) => added + counts[key], 0);
  const offIn = ({ off }: Column) => [...off.values()].reduce((added, count) => added + count, 0);
  const lines = [
    ['group', ...columns.map(({ name }) => name)],
    ...rows,
    ['all', ...columns.map((one) => `${sum(one, 'passed')}/${sum(one, 'total')}`)],
    ['off', ...columns.map((one) => String(offIn(one)))],
    ['seconds', ...columns.map(({ seconds }) => seconds.toFixed(1))],
    ['MiB held', ...columns.map(({ heldMiB }) => heldMiB.toFixed(1))],
  ];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const pad = (cell: string, at: number) =>
    at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
