import { describe } from 'vitest';
import { memoryStore } from '../src/memory-store.ts';
import { executorContract } from '../src/testing/executor-contract.ts';
import { contractSuite } from './contract-suite.ts';

describe('the executor over the memory store', () => {
  contractSuite(executorContract({ name: 'memory', store: () => memoryStore() }));
});
