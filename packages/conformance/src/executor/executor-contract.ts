import type { Runtime, Store } from '@cobbler/agent';
import type { ContractCase, Spoil } from '@cobbler/agent/testing';
import { RunFixture, seededRandom } from '@cobbler/agent/testing';
import { approvalWaitCases } from './approvals/approval-wait.ts';
import { gateCases } from './approvals/gate.ts';
import { proposalCases } from './approvals/proposal.ts';
import { untrustedCases } from './approvals/untrusted.ts';
import { callerCases } from './callers.ts';
import { cancelCases } from './cancel.ts';
import { compactionCases, offloadCases } from './context.ts';
import { eventCases, readerCases } from './events.ts';
import { oddToolCases } from './faults/odd-tools.ts';
import { oddValueCases } from './faults/odd-values.ts';
import { storeCases } from './faults/store-faults.ts';
import { historyCases } from './history.ts';
import { hookCases } from './hooks.ts';
import { limitQuestionCases } from './limit-questions.ts';
import { limitCases } from './limits.ts';
import { loopCases } from './loop.ts';
import { metricCases } from './metrics.ts';
import { outputCases } from './output.ts';
import { partialCases } from './partial.ts';
import { progressCases } from './progress.ts';
import { resumeCases, writerCases } from './resume.ts';
import { schedulingCases, stopBatchCases } from './scheduling.ts';
import type { ExecutorCase } from './setup/case.ts';
import { slowStore } from './setup/faulty-store.ts';
import { steerCases } from './steer.ts';
import { toolWaitCases } from './tool-wait.ts';
import { toolCases } from './tools.ts';
import { untypedCases } from './untyped/untyped.ts';

/** Options of {@link executorContract}. */
export interface ExecutorContractOptions {
  /**
   * How many of the values of untyped callers are passed at each place: 1 passes all of them, 2 every second one, and so
   * on. Default 25, which passes four or five values at each place.
   */
  readonly everyValue?: number;
  /** Receives one line with the number of these values. Default: the line is discarded. */
  readonly print?: (line: string) => void;
}

/** A store to test with the executor. */
export interface ExecutorSubject {
  /** Name for reports. */
  readonly name: string;
  /** Returns a new, empty store. Called once for each case. */
  store(runtime: Runtime): Store;
}

const definitions: readonly ExecutorCase[] = [
  ...loopCases,
  ...callerCases,
  ...historyCases,
  ...toolCases,
  ...oddValueCases,
  ...oddToolCases,
  ...schedulingCases,
  ...stopBatchCases,
  ...gateCases,
  ...untrustedCases,
  ...proposalCases,
  ...hookCases,
  ...approvalWaitCases,
  ...limitQuestionCases,
  ...toolWaitCases,
  ...limitCases,
  ...progressCases,
  ...cancelCases,
  ...partialCases,
  ...steerCases,
  ...metricCases,
  ...eventCases,
  ...readerCases,
  ...outputCases,
  ...compactionCases,
  ...offloadCases,
  ...resumeCases,
  ...writerCases,
];

/**
 * Returns the cases that the executor must pass with any store. Each case runs with the store itself and with
 * a slowed-down one. Further cases run over a store that fails at each of its operations. The cases use a
 * fake clock, so nothing waits.
 */
export function executorContract(
  subject: ExecutorSubject,
  { everyValue = 25, print }: ExecutorContractOptions = {},
): ContractCase[] {
  const slow = definitions.map((definition, index) =>
    bound(definition, subject, 'slow store', (store, runtime) =>
      slowStore(store, runtime, { random: seededRandom(index + 1), maxMs: 30 }),
    ),
  );
  return [
    ...definitions.map((definition) => bound(definition, subject, 'fast store')),
    ...slow,
    ...untypedCases(everyValue, print).map((definition) => bound(definition, subject, 'fast store')),
    ...storeCases.map((definition) => bound(definition, subject, 'failing store')),
  ];
}

function bound(
  definition: ExecutorCase,
  subject: ExecutorSubject,
  how: string,
  addFaults?: Spoil,
): ContractCase {
  const { group, name, run } = definition;
  const createSetup = (worse: Spoil | undefined = addFaults) =>
    new RunFixture((runtime) => subject.store(runtime), worse);
  return {
    group,
    // The tags stay at the end of the name.
    name: name.replace(/( \[[^\]]+\])?$/, ` (${how})$1`),
    async run() {
      const setup = createSetup();
      await run(setup, createSetup);
      await setup.check();
    },
  };
}
