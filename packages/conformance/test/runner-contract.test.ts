import { describe, expect, it, test } from 'vitest';
import { describeContract } from '../src/report/describe-contract.ts';
import { runnerContract } from '../src/runner/runner-contract.ts';
import { memoryStand, sqliteStand } from './runner-environments.ts';

describe('the memory runner', () => describeContract(runnerContract(memoryStand), { describe, it }));

describe('the SQLite runner', () => describeContract(runnerContract(sqliteStand), { describe, it }));

test('all cases of the contract have different names', () => {
  const names = runnerContract(memoryStand).map(({ group, name }) => `${group} ${name}`);
  expect(new Set(names).size).toBe(names.length);
});
