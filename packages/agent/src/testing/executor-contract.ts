import type { Store } from '../store/store.ts';
import type { Runtime } from '../values/runtime.ts';
import type { ContractCase } from './contract-case.ts';
import { metricCases } from './executor-contract/account.ts';
import { callerCases } from './executor-contract/callers.ts';
import { cancelCases } from './executor-contract/cancel.ts';
import type { ExecutorCase } from './executor-contract/cases.ts';
import { compactionCases, spillCases } from './executor-contract/context.ts';
import { slowStore } from './executor-contract/faulty-store.ts';
import { gateCases } from './executor-contract/gate.ts';
import { historyCases } from './executor-contract/history.ts';
import { limitCases } from './executor-contract/limits.ts';
import { loopCases } from './executor-contract/loop.ts';
import { oddToolCases } from './executor-contract/odd-tools.ts';
import { oddValueCases } from './executor-contract/odd-values.ts';
import { partialCases } from './executor-contract/partial.ts';
import { progressCases } from './executor-contract/progress.ts';
import { resumeCases, writerCases } from './executor-contract/resume.ts';
import { schedulingCases, stopBatchCases } from './executor-contract/scheduling.ts';
import { outputCases } from './executor-contract/shapes.ts';
import type { Spoil } from './executor-contract/stage.ts';
import { Stage } from './executor-contract/stage.ts';
import { steerCases } from './executor-contract/steer.ts';
import { storeCases } from './executor-contract/store-faults.ts';
import { toolCases } from './executor-contract/tools.ts';
import { waitingCases } from './executor-contract/waiting.ts';
import { eventCases, readerCases } from './executor-contract/watching.ts';
import { seededRandom } from './seeded-random.ts';

/** A store under which the executor has to keep its promises. */
export interface ExecutorSubject {
  /** For reports only: no case looks at it. */
  readonly name: string;
  /** Makes a new, empty store. Called once for each case. */
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
  ...waitingCases,
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
  ...spillCases,
  ...resumeCases,
  ...writerCases,
];

/**
 * What the executor promises whatever the store: each case with the store as it is and with one whose answers
 * take their time, and a run over a store that fails at each of its moments. Time is the case's own, so
 * nothing waits.
 */
export function executorContract(subject: ExecutorSubject): ContractCase[] {
  const slow = definitions.map((definition, index) =>
    bound(definition, subject, 'slow store', (store, runtime) =>
      slowStore(store, runtime, { random: seededRandom(index + 1), mostMs: 30 }),
    ),
  );
  return [
    ...definitions.map((definition) => bound(definition, subject, 'at once')),
    ...slow,
    ...storeCases.map((definition) => bound(definition, subject, 'failing store')),
  ];
}

function bound(definition: ExecutorCase, subject: ExecutorSubject, how: string, spoil?: Spoil): ContractCase {
  const { group, name, run } = definition;
  const newStage = (worse: Spoil | undefined = spoil) =>
    new Stage((runtime) => subject.store(runtime), worse);
  return {
    group,
    name: `${name} (${how})`,
    async run() {
      const stage = newStage();
      await run(stage, newStage);
      await stage.check();
    },
  };
}
