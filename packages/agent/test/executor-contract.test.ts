import { describe, it } from 'vitest';
import { memoryStore } from '../src/store/memory-store.ts';
import { executorContract } from '../src/testing/executor-contract.ts';
import { describeContract } from '../src/testing/index.ts';

describe('the executor over the memory store', () => {
  describeContract(executorContract({ name: 'memory', store: () => memoryStore() }), { describe, it });
});
