import { memoryStore } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import { agentContract } from '../src/agent/agent-contract.ts';
import { executorContract } from '../src/executor/executor-contract.ts';
import { gateContract } from '../src/gate/gate-contract.ts';
import { harnessContract } from '../src/harness/harness-contract.ts';
import { runnerContract } from '../src/runner/runner-contract.ts';
import { gateDoors } from './gate-doors.ts';
import { local } from './local-harness-subject.ts';
import { sqliteStand } from './runner-environments.ts';
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
  { name: 'harness', cases: () => harnessContract(local) },
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
