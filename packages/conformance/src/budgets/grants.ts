import type { BudgetStore } from '@cobbler/agent/budgets';
import { expectEqual } from '@cobbler/agent/testing';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { dollars, expectBalance, reserve } from './requests.ts';

const grants = group('grants');
const withTime = group('grants', 'time');
const withProcesses = group('grants', 'processes');

async function grant(
  store: BudgetStore,
  id: string,
  budget: string,
  usd: number,
  runId = 'run',
): Promise<void> {
  await store.grant({ id, budget, runId, amounts: { usd, tokens: 0, requests: 0 } });
}

async function spend(store: BudgetStore, id: string, budget: string, usd: number): Promise<void> {
  await reserve(store, id, budget, usd);
  await store.settle(id, dollars(usd));
}

async function granted(store: BudgetStore, budget: string): Promise<number | undefined> {
  return (await store.balances([budget]))[0]?.granted.usd;
}

export const grantCases: readonly BudgetCase[] = [
  grants('a grant raises the limit of its budget alone, and spends nothing [U5]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await store.define({ name: 'me', parent: 'team', limits: { usd: 0.5 } });
    await spend(store, 'a', 'me', 0.5);
    await grant(store, 'g', 'me', 0.75);
    expectEqual([await granted(store, 'me'), await granted(store, 'team')], [0.75, 0], 'the grants');
    await expectBalance(store, 'me', 0.5, 0);
    expectEqual(await reserve(store, 'b', 'me', 0.5), 'held 0.5', 'a request within the raised limit');
    await store.settle('b', dollars(0.5));
    expectEqual(
      await reserve(store, 'c', 'me', 0.25),
      'refused by usd of team',
      'a request above the other limit',
    );
  }),
  grants('the same grant counts once, and cannot be settled [U5]', async ({ store }) => {
    await store.define({ name: 'me', limits: { usd: 1 } });
    for (const usd of [0.5, 0.5, 2]) await grant(store, 'g', 'me', usd);
    await store.settle('grant:g', dollars(0.25));
    await grant(store, 'h', 'me', 0.25);
    expectEqual(await granted(store, 'me'), 0.75, 'the sum of the grants');
    expectEqual(await store.unsettled('run'), [], 'the reservations');
    await expectBalance(store, 'me', 0, 0);
  }),
  grants(
    'a refusal contains the limit with and without grants, and what is spent [U5]',
    async ({ store }) => {
      await store.define({ name: 'me', limits: { usd: 1 } });
      await spend(store, 'a', 'me', 1);
      await grant(store, 'g', 'me', 0.5);
      const request = {
        id: 'b',
        budget: 'me',
        sessionId: 's',
        runId: 'r',
        wanted: dollars(1),
        least: dollars(1),
      };
      const refused = { state: 'refused', budget: 'me', limit: 'usd', max: 1.5, base: 1, spent: 1 };
      expectEqual(await store.reserve(request), refused, 'the refusal');
    },
  ),
  grants('a grant of a budget per run is that of its run [U5]', async ({ store }) => {
    await store.define({ name: 'each', per: 'run', limits: { usd: 1 } });
    await grant(store, 'g', 'each', 1, 'run-a');
    expectEqual(await reserve(store, 'a', 'each', 2), 'held 2', 'a request of that run');
    expectEqual(await reserve(store, 'b', 'each', 2), 'refused by usd of each', 'a request of another run');
  }),
  grants('an unknown budget gets no grant', async ({ store }) => {
    const code = await grant(store, 'g', 'nobody', 1).then(
      () => 'granted',
      (error: { code?: string }) => error.code,
    );
    expectEqual(code, 'no_budget', 'the code');
  }),
  withTime('a grant ends with its period [U5]', async ({ store, pass }) => {
    await store.define({ name: 'daily', per: 'day', limits: { usd: 1 } });
    await grant(store, 'g', 'daily', 1);
    pass(24 * 3_600_000);
    await grant(store, 'g', 'daily', 1);
    expectEqual(await granted(store, 'daily'), 0, 'the grants of the next day');
    expectEqual(
      await reserve(store, 'a', 'daily', 2),
      'refused by usd of daily',
      'a request of the next day',
    );
  }),
  withProcesses(
    'a grant stays after the crash of its process, and counts once if another repeats it [U5]',
    async ({ store, another }) => {
      const other = await another();
      await store.define({ name: 'me', limits: { usd: 1 } });
      await grant(other, 'g', 'me', 0.5);
      await reserve(other, 'a', 'me', 1);
      await other.close();
      await grant(store, 'g', 'me', 0.5);
      await expectBalance(store, 'me', 1, 0);
      expectEqual(await granted(store, 'me'), 0.5, 'the sum of the grants');
      expectEqual(await reserve(store, 'b', 'me', 0.5), 'held 0.5', 'a request after the crash');
    },
  ),
];
