import { memoryStore } from '../src/store/memory-store.ts';
import { executorContract } from '../src/testing/executor-contract.ts';
import type { ContractCase } from '../src/testing/index.ts';
import { agentContract, gateContract, runnerContract } from '../src/testing/index.ts';
import { gateDoors } from './gate-doors.ts';
import { sqliteStand } from './runner-stands.ts';
import { fetching, scripted } from './subjects.ts';

/** A contract that a mutant has to break. */
export interface Check {
  readonly name: string;
  cases(): readonly ContractCase[];
}

/** As for the mutants of providers: several are tried at a time. */
const slack = 8;

/** What notices mistakes in the core, the likeliest first. */
export const checks: readonly Check[] = [
  { name: 'contract', cases: () => agentContract({ ...scripted, slack }, { seeds: { count: 40 } }) },
  { name: 'executor', cases: () => executorContract({ name: 'memory', store: () => memoryStore() }) },
  { name: 'gate', cases: () => gateDoors.flatMap((door) => gateContract(door)) },
  { name: 'runner', cases: () => runnerContract(sqliteStand) },
  {
    name: 'fetch',
    cases: () =>
      agentContract({ ...fetching, slack }).filter(
        ({ group, name }) => group === 'redirects' || (group === 'secrets' && !name.includes('an encoding')),
      ),
  },
];
