import { expectEqual } from '@cobbler/agent/testing';
import { expectRefused } from '../store/refusal.ts';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { asked, dollars, expectBalance, reserve } from './requests.ts';

const define = group('definitions');

export const definitionCases: readonly BudgetCase[] = [
  define('a definition is returned as it was given', async ({ store }) => {
    const team = { name: 'team', per: 'month', timeZone: 'Europe/Berlin', limits: { usd: 5 } } as const;
    await store.define(team);
    await store.define({ name: 'ann', parent: 'team', limits: {} });
    const balances = await store.balances();
    expectEqual(
      balances.map(({ definition }) => definition),
      [{ name: 'ann', parent: 'team', limits: {} }, team],
      'the definitions',
    );
  }),
  define('a new definition changes the limits and keeps what is spent [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 1);
    await store.settle('a', dollars(0.75));
    await store.define({ name: 'team', limits: { usd: 2 } });
    await expectBalance(store, 'team', 0.75, 0);
    expectEqual(await reserve(store, 'b', 'team', 1.25), 'held 1.25', 'the second reservation');
  }),
  define('a budget cannot be below itself, nor below one that does not exist', async ({ store }) => {
    await expectRefused(
      () => store.define({ name: 'a', parent: 'a', limits: {} }),
      'budget_parent',
      'itself',
    );
    await expectRefused(() => store.define({ name: 'a', parent: 'b', limits: {} }), 'no_budget', 'unknown');
    await store.define({ name: 'a', limits: {} });
    await store.define({ name: 'b', parent: 'a', limits: {} });
    await expectRefused(
      () => store.define({ name: 'a', parent: 'b', limits: {} }),
      'budget_parent',
      'circle',
    );
  }),
  define('the tree has at most 16 levels', async ({ store }) => {
    for (let level = 0; level < 16; level += 1)
      await store.define({ name: `b${level}`, limits: {}, ...(level > 0 && { parent: `b${level - 1}` }) });
    await expectRefused(
      () => store.define({ name: 'deep', parent: 'b15', limits: {} }),
      'budget_parent',
      'deep',
    );
    await store.define({ name: 'root', limits: {} });
    await expectRefused(
      () => store.define({ name: 'b0', parent: 'root', limits: {} }),
      'budget_parent',
      'a new root',
    );
  }),
  define('an unknown budget is refused everywhere', async ({ store }) => {
    await expectRefused(() => store.reserve(asked('a', 'none', 1)), 'no_budget', 'reserve');
    await expectRefused(() => store.balances(['none']), 'no_budget', 'balances');
  }),
  define('a closed store can be closed again, and not used', async ({ store }) => {
    await store.close();
    await store.close();
    await expectRefused(() => store.balances(), 'store_closed', 'a closed store');
  }),
  define('invalid values are refused with their place', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    const bad: readonly [string, () => Promise<unknown>][] = [
      ['negative', () => store.define({ name: 'x', limits: { usd: -1 } })],
      ['NaN', () => store.define({ name: 'x', limits: { tokens: Number.NaN } })],
      ['infinite', () => store.define({ name: 'x', limits: { usd: Number.POSITIVE_INFINITY } })],
      ['a part of a request', () => store.define({ name: 'x', limits: { requests: 1.5 } })],
      ['period', () => store.define({ name: 'x', per: 'week' as 'day', limits: {} })],
      ['time zone', () => store.define({ name: 'x', timeZone: 'Mars/Base', limits: {} })],
      ['name', () => store.define({ name: '', limits: {} })],
      ['amount', () => store.reserve(asked('a', 'team', -1))],
      ['used', () => store.settle('a', dollars(Number.NaN))],
    ];
    for (const [what, run] of bad) await expectRefused(run, 'bad_option', what);
    expectEqual((await store.balances()).length, 1, 'the number of budgets');
  }),
];
