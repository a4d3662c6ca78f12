import { memoryStore } from '@cobbler/agent';
import { describe, it } from 'vitest';
import { executorContract } from '../src/executor/executor-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';

// executor-contract.test.ts passes four or five of the values at each place.
describe('the executor with untyped callers', () => {
  const subject = { name: 'memory', store: () => memoryStore() };
  const cases = executorContract(subject, { everyValue: 1, print: console.log });
  describeContract(
    cases.filter(({ group }) => group === 'untyped callers'),
    { describe, it },
  );
});
