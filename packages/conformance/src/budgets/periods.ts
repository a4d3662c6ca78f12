import { expectEqual } from '@cobbler/agent/testing';
import { timeOf } from '@cobbler/agent/values';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { dollars, expectBalance, reserve } from './requests.ts';

const periods = group('periods', 'time');

const hour = 3_600_000;
const day = 24 * hour;

export const periodCases: readonly BudgetCase[] = [
  periods('a budget per hour, day or month starts again', async ({ store, pass }) => {
    // The clock starts at noon on 2 January.
    const cases = [
      ['hour', hour],
      ['day', 11 * hour],
      ['month', 29 * day],
    ] as const;
    for (const [per, untilNext] of cases) {
      await store.define({ name: per, per, limits: { usd: 1 } });
      await reserve(store, `${per}-1`, per, 1);
      await store.settle(`${per}-1`, dollars(1));
      pass(untilNext - 1);
      const early = await reserve(store, `${per}-2`, per, 1);
      expectEqual(early, `refused by usd of ${per}`, `a request just before the next ${per}`);
      pass(1);
      expectEqual(await reserve(store, `${per}-3`, per, 1), 'held 1', `a request in the next ${per}`);
    }
  }),
  periods('days start at midnight in the time zone of the budget', async ({ store, pass }) => {
    // Noon in UTC is 17:30 in Kolkata, so the next day starts six and a half hours later.
    await store.define({ name: 'india', per: 'day', timeZone: 'Asia/Kolkata', limits: { usd: 1 } });
    await reserve(store, 'a', 'india', 1);
    await store.settle('a', dollars(1));
    const refused = await store.reserve({
      ...{ id: 'b', budget: 'india', sessionId: 's', runId: 'r' },
      ...{ wanted: dollars(1), least: dollars(1) },
    });
    const endsAt = timeOf('2026-01-02T18:30:00Z');
    const limit = { limit: 'usd', max: 1, base: 1, spent: 1 };
    expectEqual(refused, { state: 'refused', budget: 'india', ...limit, endsAt }, 'the refusal');
    pass(6.5 * hour);
    expectEqual(await reserve(store, 'c', 'india', 1), 'held 1', 'a request after midnight');
  }),
  periods('a budget per run counts each run separately', async ({ store }) => {
    await store.define({ name: 'each', per: 'run', limits: { usd: 1 } });
    await reserve(store, 'a', 'each', 1, { runId: 'one' });
    await store.settle('a', dollars(1));
    expectEqual(
      await reserve(store, 'b', 'each', 1, { runId: 'one' }),
      'refused by usd of each',
      'the same run',
    );
    expectEqual(await reserve(store, 'c', 'each', 1, { runId: 'two' }), 'held 1', 'another run');
    const [balance] = await store.balances(['each'], 'one');
    expectEqual([balance?.period, balance?.settled.usd], ['one', 1], 'the balance of the first run');
  }),
  periods('a request is settled in the period in which it was reserved [U2]', async ({ store, pass }) => {
    await store.define({ name: 'daily', per: 'day', limits: { usd: 1 } });
    await reserve(store, 'a', 'daily', 1);
    pass(day);
    await store.settle('a', dollars(1));
    await expectBalance(store, 'daily', 0, 0);
    expectEqual(await reserve(store, 'b', 'daily', 1), 'held 1', 'a request of the next day');
  }),
  periods(
    'a clock that is set back finds what was spent in the earlier period [U2]',
    async ({ store, pass }) => {
      await store.define({ name: 'daily', per: 'day', limits: { usd: 1 } });
      await reserve(store, 'a', 'daily', 1);
      await store.settle('a', dollars(0.75));
      pass(day);
      expectEqual(await reserve(store, 'b', 'daily', 1), 'held 1', 'a request of the next day');
      pass(-day);
      expectEqual(
        await reserve(store, 'c', 'daily', 0.5),
        'refused by usd of daily',
        'a request of the first day',
      );
      await expectBalance(store, 'daily', 0.75, 0);
    },
  ),
];
