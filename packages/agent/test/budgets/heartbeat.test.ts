import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteBudgets } from '../../src/node/sqlite-budgets/sqlite-budgets.ts';
import { fakeRuntime } from '../../src/testing/index.ts';

const dollar = { usd: 1, tokens: 0, requests: 1 };
const request = { id: 'a', budget: 'team', sessionId: 's', runId: 'r', wanted: dollar, least: dollar };

test('a process that holds a reservation stays alive, and has no timer afterwards [U3]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const runtime = fakeRuntime();
  const file = join(folder, 'budgets.db');
  const [store, other] = [sqliteBudgets({ file, runtime }), sqliteBudgets({ file, runtime })];
  await store.define({ name: 'team', limits: { usd: 1 } });
  await store.reserve(request);
  await runtime.advance(60_000);
  expect((await other.balances())[0]).toMatchObject({ settled: { usd: 0 }, reserved: dollar });
  await store.settle('a', dollar);
  expect(runtime.timers).toBe(0);
  await store.reserve({ ...request, id: 'b' });
  expect(runtime.timers).toBe(0);
  await store.close();
  await other.close();
});
