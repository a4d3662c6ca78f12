import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteBudgets } from '../../src/node/sqlite-budgets/sqlite-budgets.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

const dollar = { usd: 1, tokens: 0, requests: 1 };
const start = 1_767_225_600_000;

/** Starts a process that holds a reservation, and kills it. */
async function killedChild(file: string): Promise<string> {
  const script = fileURLToPath(new URL('budget-child.ts', import.meta.url));
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, script, file, String(start)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  child.kill('SIGKILL');
  await gone;
  return line;
}

test('what a killed process has reserved is spent when its lease ends, until it is settled [U3]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));
  const file = join(folder, 'budgets.db');
  let now = start;
  const store = sqliteBudgets({ file, runtime: { ...systemRuntime, now: () => now } });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  await store.define({ name: 'team', limits: { usd: 1.5 } });
  expect(await killedChild(file)).toBe('held waiting');

  const request = { budget: 'team', sessionId: 's', runId: 'r', wanted: dollar, least: dollar };
  const half = { usd: 0.5, tokens: 0, requests: 1 };
  const mine = { ...request, id: 'mine', wanted: half, least: half };
  now = start + 14_999;
  expect(await store.reserve(mine)).toEqual({ state: 'waiting', budget: 'team' });
  const total = async () =>
    (await store.balances(['team'])).map(({ settled, reserved }) => [settled.usd, reserved.usd]);
  expect(await total()).toEqual([[0, 1]]);

  now = start + 15_000;
  expect(await store.reserve(mine)).toEqual({ state: 'held', amounts: half });
  expect(await total()).toEqual([[1, 0.5]]);
  expect(await store.unsettled('s')).toMatchObject([{ id: 'child-1', amounts: dollar }, { id: 'mine' }]);
  await store.settle('child-1', { usd: 0.25, tokens: 10, requests: 1 });
  await store.settle('mine', half);
  expect(await total()).toEqual([[0.75, 0]]);
});
