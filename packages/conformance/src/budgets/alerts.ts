import type { BudgetAlert, BudgetStore } from '@cobbler/agent/budgets';
import { expectEqual } from '@cobbler/agent/testing';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { dollars, reserve } from './requests.ts';

const alerts = group('alerts');
const sharedAlerts = group('alerts', 'processes');
const timedAlerts = group('alerts', 'time');

/** Spends an amount at once. */
async function spend(store: BudgetStore, id: string, usd: number): Promise<void> {
  await reserve(store, id, 'team', usd);
  await store.settle(id, dollars(usd));
}

/** Returns the list that receives the alerts of a store, as `budget share settled`. */
function listen(store: BudgetStore, list: string[] = []): string[] {
  store.onAlert(({ budget, share, settled }: BudgetAlert) => list.push(`${budget} ${share} ${settled}`));
  return list;
}

export const alertCases: readonly BudgetCase[] = [
  alerts('each share of a budget alerts once, also of a budget above', async ({ store }) => {
    await store.define({ name: 'all', limits: { usd: 8 }, alerts: [25] });
    await store.define({ name: 'team', parent: 'all', limits: { usd: 2 }, alerts: [50, 75, 100] });
    const received = listen(store);
    await spend(store, 'a', 0.75);
    expectEqual(received, [], 'the alerts below the first share');
    await spend(store, 'b', 0.75);
    expectEqual(received, ['team 50 1.5', 'team 75 1.5'], 'the alerts of two shares at once');
    await spend(store, 'c', 0.25);
    await spend(store, 'd', 0.25);
    expectEqual(received.slice(2), ['team 100 2', 'all 25 2'], 'the alerts at the limit');
  }),
  alerts('a share does not alert again after a correction', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 2 }, alerts: [50] });
    const received = listen(store);
    await reserve(store, 'a', 'team', 0.5);
    await spend(store, 'b', 1);
    await store.settle('a', dollars(0));
    await spend(store, 'c', 0.5);
    expectEqual(received, ['team 50 1'], 'the alerts');
  }),
  alerts('the last share alerts when a request is refused, once', async ({ store }) => {
    await store.define({ name: 'all', limits: { usd: 9 }, alerts: [100] });
    await store.define({ name: 'team', parent: 'all', limits: { usd: 2 }, alerts: [50, 90, 100] });
    const received = listen(store);
    await spend(store, 'a', 1.5);
    await reserve(store, 'b', 'team', 0.75);
    await reserve(store, 'c', 'team', 0.75);
    expectEqual(received, ['team 50 1.5', 'team 100 1.5'], 'the alerts after two refused requests');
    await spend(store, 'd', 0.5);
    expectEqual(received, ['team 50 1.5', 'team 100 1.5', 'team 90 2'], 'the alerts at the limit');
  }),
  alerts('a listener that throws changes nothing', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 }, alerts: [50] });
    store.onAlert(() => {
      throw new Error('no');
    });
    const received = listen(store);
    await spend(store, 'a', 1);
    expectEqual(received, ['team 50 1'], 'the alerts of the next listener');
  }),
  sharedAlerts(
    'of several processes, only the one that reaches a share alerts',
    async ({ store, another }) => {
      const other = await another();
      await store.define({ name: 'team', limits: { usd: 1 }, alerts: [50, 100] });
      const first = listen(store);
      const second = listen(other);
      await Promise.all([spend(store, 'a', 0.25), spend(other, 'b', 0.25)]);
      await Promise.all([spend(store, 'c', 0.25), spend(other, 'd', 0.25)]);
      const shares = [...first, ...second].map((alert) => alert.split(' ')[1]);
      expectEqual(shares.sort(), ['100', '50'], 'the shares of both processes');
    },
  ),
  sharedAlerts('what a crashed process reserved alerts when it is charged', async ({ store, another }) => {
    const other = await another();
    await store.define({ name: 'team', limits: { usd: 1 }, alerts: [50] });
    const received = listen(store);
    await reserve(other, 'a', 'team', 0.75);
    await other.close();
    await reserve(store, 'b', 'team', 0.25);
    expectEqual(received, ['team 50 0.75'], 'the alerts');
  }),
  timedAlerts('each period alerts again', async ({ store, pass }) => {
    await store.define({ name: 'team', per: 'day', limits: { usd: 1 }, alerts: [50] });
    const received = listen(store);
    await spend(store, 'a', 0.5);
    pass(24 * 3_600_000);
    await spend(store, 'b', 0.75);
    expectEqual(received, ['team 50 0.5', 'team 50 0.75'], 'the alerts');
  }),
];
