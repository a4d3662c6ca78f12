import type { ContractCase } from '@cobbler/agent/testing';

/** A failed case. */
export interface ContractProblem {
  readonly group: string;
  readonly name: string;
  readonly message: string;
}

/** The totals of a contract run. */
export interface ContractTotals {
  readonly total: number;
  readonly passed: number;
  readonly off: number;
  readonly failures: readonly ContractProblem[];
}

/**
 * Runs the cases of a contract one after another, without a test runner, and prints a line for each group:
 * `group passed/total off(reason)`. Cases that do not apply (`off`) count in neither number.
 *
 * @param print receives one line. By default nothing is printed.
 */
export async function runContract(
  cases: readonly ContractCase[],
  print: (line: string) => void = () => {},
): Promise<ContractTotals> {
  const failures: ContractProblem[] = [];
  let passed = 0;
  let off = 0;
  const groups = Map.groupBy(cases, ({ group }) => group);
  const width = Math.max(0, ...[...groups.keys()].map(({ length }) => length));
  for (const [group, members] of groups) {
    const on = members.filter((member) => member.off === undefined);
    const problems = await runAll(on);
    failures.push(...problems);
    passed += on.length - problems.length;
    off += members.length - on.length;
    const score = `${on.length - problems.length}/${on.length}`;
    print(`${group.padEnd(width)}  ${score.padStart(7)}${describeOff(members)}`);
    for (const { name, message } of problems) print(`  failed: ${name}: ${message}`);
  }
  return { total: passed + failures.length, passed, off, failures };
}

async function runAll(cases: readonly ContractCase[]): Promise<ContractProblem[]> {
  const problems: ContractProblem[] = [];
  for (const { group, name, run } of cases) {
    try {
      await run();
    } catch (error) {
      problems.push({ group, name, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return problems;
}

/** Describes how many cases are off, by reason. */
function describeOff(cases: readonly ContractCase[]): string {
  const reasons = Map.groupBy(
    cases.filter(({ off }) => off !== undefined),
    ({ off }) => off ?? '',
  );
  return [...reasons].map(([reason, members]) => `  off ${members.length} (${reason})`).join('');
}
