import { memoryStore } from '@cobbler/agent';
import { describe, it } from 'vitest';
import { executorContract } from '../src/executor/executor-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';

describe('the executor with the memory store', () => {
  describeContract(executorContract({ name: 'memory', store: () => memoryStore() }), { describe, it });
});
