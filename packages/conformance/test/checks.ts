import { memoryStore, systemRuntime } from '@cobbler/agent';
import { memoryBudgets } from '@cobbler/agent/budgets';
import type { ContractCase } from '@cobbler/agent/testing';
import { agentContract } from '../src/agent/agent-contract.ts';
import { budgetStoreContract } from '../src/budgets/budget-store-contract.ts';
import { executorContract } from '../src/executor/executor-contract.ts';
import { gateContract } from '../src/gate/gate-contract.ts';
import { harnessContract } from '../src/harness/harness-contract.ts';
import { runnerContract } from '../src/runner/runner-contract.ts';
import { gateDoors } from './gate-doors.ts';
import { local } from './local-harness-subject.ts';
import { sqliteStand } from './runner-environments.ts';
import { fetching, scripted } from './subjects.ts';

/** A contract that a mutant must break. */
export interface Check {
  readonly name: string;
  cases(): readonly ContractCase[];
}

/** Factor for time limits, because several mutants are tested in parallel. */
const slack = 8;

/** The contracts that detect bugs in the core, the most likely first. */
export const checks: readonly Check[] = [
  { name: 'contract', cases: () => agentContract({ ...scripted, slack }, { seeds: { count: 40 } }) },
  { name: 'executor', cases: () => executorContract({ name: 'memory', store: () => memoryStore() }) },
  { name: 'harness', cases: () => harnessContract(local) },
  { name: 'gate', cases: () => gateDoors.flatMap((door) => gateContract(door)) },
  {
    name: 'budgets',
    cases: () =>
      budgetStoreContract({
        name: 'memory',
        place: (now) => ({ open: () => memoryBudgets({ runtime: { ...systemRuntime, now } }) }),
        forgets: 'the budgets are only in memory',
      }),
  },
  { name: 'runner', cases: () => runnerContract(sqliteStand) },
  {
    name: 'fetch',
    cases: () =>
      agentContract({ ...fetching, slack }).filter(
        ({ group, name }) =>
          group === 'redirects' || (group === 'secrets' && !name.includes('the content encoding')),
      ),
  },
];
