import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteBudgets } from '../../src/node/sqlite-budgets/sqlite-budgets.ts';
import type { BudgetStore } from '../../src/store/budgets/index.ts';
import { memoryBudgets } from '../../src/store/budgets/index.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

const day = 24 * 3_600_000;
const none = { usd: 0, tokens: 0, requests: 0 };
const cent = { usd: 0.01, tokens: 0, requests: 1 };
const request = { budget: 'team', sessionId: 's', runId: 'r', wanted: cent, least: cent };

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'budgets.db');
}

function open(file: string, now: () => number = systemRuntime.now): BudgetStore {
  const store = sqliteBudgets({ file, busyMs: 0, runtime: { ...systemRuntime, now } });
  onTestFinished(async () => await store.close());
  return store;
}

/** Another process reserves and crashes, which the next use of the store notices. */
async function crash(file: string, now: () => number, id: string): Promise<void> {
  const crashed = open(file, now);
  await crashed.reserve({ ...request, id });
  await crashed.close();
}

test('names and ids have at most 200 characters, none of them a control character', async () => {
  const store = memoryBudgets();
  const longest = 'ä'.repeat(200);
  await store.define({ name: longest, limits: {} });
  await store.reserve({ ...request, budget: longest, id: longest, sessionId: longest, runId: longest });
  for (const odd of [`${longest}a`, '', 'a\nb', 'a\u0000', '\uD800']) {
    await expect(store.define({ name: odd, limits: {} })).rejects.toMatchObject({ code: 'bad_option' });
    for (const field of ['id', 'sessionId', 'runId', 'budget'])
      await expect(store.reserve({ ...request, id: 'a', budget: longest, [field]: odd })).rejects.toThrow(
        `request.${field} is invalid`,
      );
  }
});

test('a charged reservation can be settled for 30 days, and stays spent afterwards', async () => {
  const file = newFile();
  let now = 1_767_225_600_000;
  const store = open(file, () => now);
  await store.define({ name: 'team', limits: {} });
  const charged = async () => (await store.unsettled('s')).map(({ id }) => id);
  await crash(file, () => now, 'first');
  await store.balances();
  now += 30 * day;
  await crash(file, () => now, 'second');
  await store.balances();
  expect(await charged()).toEqual(['first', 'second']);
  now += 1;
  await crash(file, () => now, 'third');
  await store.balances();
  expect(await charged()).toEqual(['second', 'third']);
  await store.settle('first', none);
  expect((await store.balances())[0]?.settled).toEqual({ usd: 0.03, tokens: 0, requests: 3 });
});

test('the last 10,000 charged reservations can be settled', async () => {
  const file = newFile();
  const now = 1_767_225_600_000;
  const store = open(file, () => now);
  await store.define({ name: 'team', limits: {} });
  const db = new DatabaseSync(file);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
    INSERT INTO holds (id, owner, session, run, state, usd, tokens, requests, since)
    SELECT 'old-' || i, 'gone', 'others', 'r', 'charged', 0, 0, 0, ${now} + i - 20000 FROM n`);
  db.close();
  await crash(file, () => now, 'last');
  await store.balances();
  const ids = (await store.unsettled('others')).map(({ id }) => id);
  expect(ids).toHaveLength(9999);
  expect(ids[0]).toBe('old-3');
  expect(await store.unsettled('s')).toHaveLength(1);
});

test('a budget in memory has the balances of the 10,000 runs that used it last', async () => {
  const store = memoryBudgets();
  await store.define({ name: 'team', per: 'run', limits: {} });
  const spend = async (runId: string) => {
    await store.reserve({ ...request, id: runId, runId });
    await store.settle(runId, cent);
  };
  const spent = async (runId: string) => (await store.balances(['team'], runId))[0]?.settled.requests;
  for (let run = 0; run < 10_000; run += 1) await spend(`run-${run}`);
  await spend('run-0');
  await spend('another');
  expect([await spent('run-0'), await spent('run-1'), await spent('run-2')]).toEqual([2, 0, 1]);
});

test('a file that another program writes all the time fails with store_busy after busyMs', async () => {
  const file = newFile();
  const store = open(file);
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  await expect(store.define({ name: 'team', limits: {} })).rejects.toMatchObject({ code: 'store_busy' });
  other.exec('ROLLBACK');
  other.close();
  await store.define({ name: 'team', limits: {} });
});
