import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRuntime } from '@cobbler/agent';
import { budgetStoreContract, describeContract } from '@cobbler/conformance';
import { afterAll, describe, expect, it } from 'vitest';
import { d1Budgets } from '../../src/cloudflare/d1-budgets.ts';
import type { SqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-d1-budgets-'));
const opened: SqliteSql[] = [];
afterAll(() => {
  for (const sql of opened) sql.close();
  rmSync(folder, { recursive: true, force: true });
});

function database(): SqliteSql {
  const sql = sqliteSql({ file: join(folder, `${opened.length}.db`) });
  opened.push(sql);
  return sql;
}

/** A clock whose pauses end at once. */
const runtime = {
  ...systemRuntime,
  timer(_ms: number, run: () => void) {
    setImmediate(run);
    return () => {};
  },
};

describe('budgets in D1, over the same statements in SQLite', () => {
  describeContract(
    budgetStoreContract({
      name: 'd1',
      place(now) {
        const sql = database();
        return { open: () => d1Budgets({ sql, runtime: { ...systemRuntime, now } }) };
      },
    }),
    { describe, it },
  );
});

describe('the lock of the budgets in D1', () => {
  const lock = (seconds: number) => ({
    text: `INSERT INTO budget_lock (id, holder, until) VALUES (1, 'other', unixepoch('subsec') + ${seconds})
      ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until`,
  });

  it('makes others wait, until they end with an error that can be retried', async () => {
    const sql = database();
    await sql.batch([lock(3600)]);
    const budgets = d1Budgets({ sql, runtime });
    await expect(budgets.define({ name: 'a', limits: {} })).rejects.toMatchObject({
      code: 'store',
      retryable: true,
    });
    await sql.batch([lock(-1)]);
    await budgets.define({ name: 'a', limits: {} });
    expect(await budgets.balances()).toHaveLength(1);
  });

  it('is taken again if another Worker took it in the meantime, and nothing is counted twice', async () => {
    const sql = database();
    let isSlow = false;
    const slow: typeof sql = {
      ...sql,
      async batch(statements) {
        if (isSlow && statements.some(({ text }) => text.includes('INTO balances'))) {
          isSlow = false;
          await sql.batch([lock(-1)]);
        }
        return await sql.batch(statements);
      },
    };
    const budgets = d1Budgets({ sql: slow, runtime });
    await budgets.define({ name: 'a', limits: { requests: 2 } });
    const amounts = { usd: 0, tokens: 0, requests: 1 };
    const request = { id: 'r', budget: 'a', sessionId: 's', runId: 'run', wanted: amounts, least: amounts };
    expect(await budgets.reserve(request)).toMatchObject({ state: 'held' });
    isSlow = true;
    await budgets.settle('r', amounts);
    expect(await budgets.balances()).toMatchObject([{ settled: amounts, reserved: { requests: 0 } }]);
  });

  it('is free after an error', async () => {
    const sql = database();
    const budgets = d1Budgets({ sql, runtime });
    await expect(budgets.balances(['nobody'])).rejects.toMatchObject({ code: 'no_budget' });
    await budgets.define({ name: 'a', limits: {} });
    expect((await sql.run("SELECT 1 FROM budget_lock WHERE until > unixepoch('subsec')")).rows).toEqual([]);
  });
});
