import type { ContractCase } from '@cobbler/agent/testing';
import type { AgentContractOptions } from '../agent/agent-contract.ts';
import { agentContract } from '../agent/agent-contract.ts';
import type { ContractSubject } from '../agent/setup/subject.ts';
import { wireCases } from '../agent/wire-cases.ts';
import type { TestRunner } from '../report/describe-contract.ts';
import type { MockedSubject } from './mocked-subject.ts';
import { overFetch } from './over-fetch.ts';
import { overNode } from './over-node.ts';

/** One of the {@link contractWays}: the network over which a contract runs. */
export interface ContractWay {
  readonly name: 'fetch' | 'node';
  /** Name for reports, with the kind of mock. */
  readonly title: string;
  /** Returns the subject with the network of this way. */
  over(subject: MockedSubject): ContractSubject;
}

/** The two ways to run a contract, with the same cases and handlers: over fetch, and over Node's transport. */
export const contractWays: readonly ContractWay[] = [
  { name: 'fetch', title: 'over fetch (msw setupServer)', over: overFetch },
  { name: 'node', title: "over Node's transport (loopback)", over: overNode },
];

/** Returns the cases of a contract for one way. */
export function wayCases(
  subject: MockedSubject,
  way: ContractWay,
  options?: AgentContractOptions,
): readonly ContractCase[] {
  return (subject.contract ?? agentContract)(way.over(subject), options);
}

/**
 * Returns the cases of a quick run: over fetch, all cases that depend on the wire; over Node's transport, one case of
 * each group of these cases.
 */
export function quickWayCases(cases: readonly ContractCase[], way: ContractWay): readonly ContractCase[] {
  const decided = wireCases(cases);
  if (way.name === 'fetch') return decided;
  return [...Map.groupBy(decided, ({ group }) => group).values()].flatMap(
    (members) => members.find(({ off }) => off === undefined) ?? [],
  );
}

/** The functions of a test runner that {@link describeWays} needs; those of vitest fit. */
export interface WayRunner extends TestRunner {
  readonly afterAll: (run: () => void) => unknown;
}

/** Options of {@link describeWays}. */
export interface DescribeWaysOptions extends AgentContractOptions {
  /** Returns the cases to run for a way. Default: all. */
  readonly select?: (cases: readonly ContractCase[], way: ContractWay) => readonly ContractCase[];
  /** Prints the line with the counts. */
  readonly print: (line: string) => void;
}

/**
 * Defines the tests of a contract for both ways. After the last test, prints how many cases passed, such as
 * `claude: 517 cases passed over fetch, 588 over Node's transport`.
 */
export function describeWays(
  subject: MockedSubject,
  { describe, it, afterAll }: WayRunner,
  { select = (cases) => cases, print, ...options }: DescribeWaysOptions,
): void {
  const passed = { fetch: 0, node: 0 };
  describe(`agentContract, ${subject.name}`, () => {
    for (const way of contractWays) {
      describe(way.title, () => {
        for (const { group, name, off, run } of select(wayCases(subject, way, { ...options, print }), way))
          it(`${group}: ${name}`, async (context) => {
            if (off !== undefined) context.skip(off);
            else {
              await run();
              passed[way.name] += 1;
            }
          });
      });
    }
    afterAll(() => {
      print(`${subject.name}: ${passed.fetch} cases passed over fetch, ${passed.node} over Node's transport`);
    });
  });
}
