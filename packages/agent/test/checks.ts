import { memoryStore } from '../src/memory-store.ts';
import { fetchTransport } from '../src/provider/fetch-transport.ts';
import { createAgent } from '../src/provider/index.ts';
import { systemRuntime } from '../src/runtime.ts';
import { executorContract } from '../src/testing/executor-contract.ts';
import type { ContractCase, ContractSubject } from '../src/testing/index.ts';
import {
  agentContract,
  runnerContract,
  scriptCapabilities,
  scriptTesting,
  scriptWire,
} from '../src/testing/index.ts';
import { sqliteStand } from './runner-stands.ts';

/** A contract that a mutant has to break. */
export interface Check {
  readonly name: string;
  cases(): readonly ContractCase[];
}

const scripted: ContractSubject = {
  name: 'scripted',
  slack: 8,
  create: ({ baseURL, apiKey, ...options }) =>
    createAgent(scriptWire({ baseURL, apiKey }), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      ...options,
    }),
  testing: scriptTesting,
};

const fetching: ContractSubject = {
  ...scripted,
  create: (link) => scripted.create({ transport: fetchTransport(systemRuntime.fetch), ...link }),
};

/** What notices mistakes in the core, the likeliest first. */
export const checks: readonly Check[] = [
  { name: 'contract', cases: () => agentContract(scripted, { seeds: { count: 40 } }) },
  { name: 'executor', cases: () => executorContract({ name: 'memory', store: () => memoryStore() }) },
  { name: 'runner', cases: () => runnerContract(sqliteStand) },
  {
    name: 'fetch',
    cases: () =>
      agentContract(fetching).filter(
        ({ group, name }) => group === 'redirects' || (group === 'secrets' && !name.includes('an encoding')),
      ),
  },
];

/** Unit tests that take little time, for what no contract notices. */
export const units: readonly string[] = [
  'test/provider-',
  'test/decide',
  'test/errors',
  'test/executor.test',
  'test/feed',
  'test/fold',
  'test/gate',
  'test/limits',
  'test/left-behind',
  'test/log',
  'test/message',
  'test/output',
  'test/run.test',
  'test/stopwatch',
  'test/tool',
  'test/usage',
];
