import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRuntime } from '@cobbler/agent';
import { memoryBudgets } from '@cobbler/agent/budgets';
import { sqliteBudgets } from '@cobbler/agent/sqlite-budgets';
import { afterAll, describe, it } from 'vitest';
import { budgetStoreContract } from '../src/budgets/budget-store-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('memory budgets', () => {
  describeContract(
    budgetStoreContract({
      name: 'memory',
      place: (now) => ({ open: () => memoryBudgets({ runtime: { ...systemRuntime, now } }) }),
      forgets: 'the budgets are only in memory',
    }),
    { describe, it },
  );
});

describe('SQLite budgets', () => {
  let places = 0;
  describeContract(
    budgetStoreContract({
      name: 'sqlite',
      place(now) {
        const file = join(folder, String(places++), 'budgets.db');
        return { open: () => sqliteBudgets({ file, runtime: { ...systemRuntime, now } }) };
      },
    }),
    { describe, it },
  );
});
