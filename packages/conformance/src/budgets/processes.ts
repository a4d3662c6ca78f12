import type { BudgetStore } from '@cobbler/agent/budgets';
import { expectEqual } from '@cobbler/agent/testing';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { dollars, expectBalance, reserve } from './requests.ts';

const processes = group('processes', 'processes');

export const processCases: readonly BudgetCase[] = [
  processes('processes share budgets and wait for each other [U1]', async ({ store, another }) => {
    const other = await another();
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    expectEqual(await reserve(other, 'b', 'team', 0.5), 'waiting for team', 'the other process');
    await store.settle('a', dollars(0.5));
    expectEqual(await reserve(other, 'b', 'team', 0.5), 'held 0.5', 'the other process, later');
    await expectBalance(store, 'team', 0.5, 0.5);
  }),
  processes(
    'what a crashed process reserved is spent until its usage is known [U3]',
    async ({ store, another }) => {
      const other = await another();
      await store.define({ name: 'all', limits: { usd: 8 } });
      await store.define({ name: 'team', parent: 'all', limits: { usd: 1 } });
      await reserve(other, 'a', 'team', 0.75, { sessionId: 's' });
      await other.close();
      await expectBalance(store, 'team', 0.75, 0);
      expectEqual(
        await reserve(store, 'b', 'team', 0.5),
        'refused by usd of team',
        'a request after the crash',
      );
      const [open] = await store.unsettled('s');
      expectEqual(open?.id, 'a', 'the reservation of the crashed process');
      await store.settle('a', dollars(0.25));
      for (const name of ['team', 'all']) await expectBalance(store, name, 0.25, 0);
      expectEqual(await store.unsettled('s'), [], 'the reservations after settling');
      await store.settle('a', dollars(0.25));
      await expectBalance(store, 'team', 0.25, 0);
    },
  ),
  processes('a reservation of a crashed process is not reserved again [U3]', async ({ store, another }) => {
    const other = await another();
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(other, 'a', 'team', 0.75);
    await other.close();
    expectEqual(await reserve(store, 'a', 'team', 0.75), 'held 0.75', 'the same reservation');
    await expectBalance(store, 'team', 0.75, 0);
    await store.settle('a', dollars(0.5));
    await expectBalance(store, 'team', 0.5, 0);
  }),
  processes('a request of a crashed process no longer waits [U4]', async ({ store, another }) => {
    const other = await another();
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    await reserve(other, 'b', 'team', 1);
    await other.close();
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'held 0.25', 'a request after the crash');
  }),
  processes('reservations at the same time never exceed a limit [U1]', async ({ store, another }) => {
    const stores: readonly BudgetStore[] = [store, await another(), await another(), await another()];
    await store.define({ name: 'team', limits: { usd: 1 } });
    const results = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        reserve(stores[index % stores.length] as BudgetStore, `r${index}`, 'team', 0.125),
      ),
    );
    expectEqual(results.filter((result) => result === 'held 0.125').length, 8, 'the number of reservations');
    await expectBalance(store, 'team', 0, 1);
  }),
];
