import { describe, expect, test } from 'vitest';
import { runnerContract } from '../src/testing/runner-contract.ts';
import { contractSuite } from './contract-suite.ts';
import { memoryStand, sqliteStand } from './runner-stands.ts';

describe('the memory runner', () => contractSuite(runnerContract(memoryStand)));

describe('the SQLite runner', () => contractSuite(runnerContract(sqliteStand)));

test('no two cases of the contract have one name', () => {
  const names = runnerContract(memoryStand).map(({ group, name }) => `${group} ${name}`);
  expect(new Set(names).size).toBe(names.length);
});
