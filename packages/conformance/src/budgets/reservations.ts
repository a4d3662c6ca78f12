import { expectEqual } from '@cobbler/agent/testing';
import type { BudgetCase } from './case.ts';
import { group } from './case.ts';
import { dollars, expectBalance, reserve } from './requests.ts';

const limits = group('limits');
const waiting = group('waiting');
const silence = group('waiting', 'time');

export const reservationCases: readonly BudgetCase[] = [
  limits('a reservation is settled with what was used [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    expectEqual(await reserve(store, 'a', 'team', 0.5), 'held 0.5', 'the reservation');
    await expectBalance(store, 'team', 0, 0.5);
    await store.settle('a', dollars(0.125));
    await expectBalance(store, 'team', 0.125, 0);
  }),
  limits('a request counts in all budgets above its own [U2]', async ({ store }) => {
    await store.define({ name: 'all', limits: {} });
    await store.define({ name: 'team', parent: 'all', limits: { usd: 1 } });
    await store.define({ name: 'ann', parent: 'team', limits: { usd: 4 } });
    await reserve(store, 'a', 'ann', 1);
    for (const name of ['all', 'team', 'ann']) await expectBalance(store, name, 0, 1);
    await store.settle('a', dollars(0.75));
    for (const name of ['all', 'team', 'ann']) await expectBalance(store, name, 0.75, 0);
    expectEqual(await reserve(store, 'b', 'ann', 0.5), 'refused by usd of team', 'a request above the limit');
    await expectBalance(store, 'ann', 0.75, 0);
  }),
  limits('each amount has its own limit', async ({ store }) => {
    await store.define({ name: 'calls', limits: { requests: 1 } });
    await store.define({ name: 'tokens', limits: { tokens: 100 } });
    expectEqual(await reserve(store, 'a', 'calls', 1), 'held 1', 'the first request');
    await store.settle('a', dollars(1));
    expectEqual(await reserve(store, 'b', 'calls', 1), 'refused by requests of calls', 'the second request');
    const many = { wanted: dollars(0, 101), least: dollars(0, 101) };
    expectEqual(await reserve(store, 'c', 'tokens', 0, many), 'refused by tokens of tokens', 'many tokens');
  }),
  limits('the last request gets what is left, if that is useful [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 1);
    await store.settle('a', dollars(0.75));
    expectEqual(await reserve(store, 'b', 'team', 1, { least: dollars(0.25) }), 'held 0.25', 'the rest');
    await store.settle('b', dollars(0.25));
    expectEqual(
      await reserve(store, 'c', 'team', 1, { least: dollars(0.125) }),
      'refused by usd of team',
      'nothing is left',
    );
  }),
  limits('settling twice, or an unknown id, changes nothing [U2]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 1);
    await store.settle('a', dollars(0.5));
    await store.settle('a', dollars(0.5));
    await store.settle('never', dollars(0.5));
    await expectBalance(store, 'team', 0.5, 0);
  }),
  limits('asking again for the same reservation reserves it once [U2]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    expectEqual(await reserve(store, 'a', 'team', 0.75), 'held 0.75', 'the second time');
    await expectBalance(store, 'team', 0, 0.75);
  }),
  limits('the unsettled reservations of a session are listed', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.5, { sessionId: 's' });
    await reserve(store, 'b', 'team', 0.25, { sessionId: 's' });
    await reserve(store, 'c', 'team', 0.125);
    await store.settle('a', dollars(0));
    expectEqual(
      await store.unsettled('s'),
      [{ id: 'b', runId: 'run-b', amounts: dollars(0.25) }],
      'the reservations',
    );
  }),
  waiting('a request waits while others have reserved the room [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    expectEqual(await reserve(store, 'b', 'team', 0.5), 'waiting for team', 'the second request');
    await expectBalance(store, 'team', 0, 0.75);
    await store.settle('a', dollars(0.25));
    expectEqual(await reserve(store, 'b', 'team', 0.5), 'held 0.5', 'the second request, later');
  }),
  waiting('requests that wait get their turn in the order in which they asked [U4]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 1);
    await reserve(store, 'b', 'team', 1);
    await reserve(store, 'c', 'team', 0.25);
    await store.settle('a', dollars(0));
    expectEqual(await reserve(store, 'd', 'team', 0.25), 'waiting for team', 'a new request');
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'waiting for team', 'the third request');
    expectEqual(await reserve(store, 'b', 'team', 1), 'held 1', 'the second request');
    await store.settle('b', dollars(0.5));
    expectEqual(await reserve(store, 'd', 'team', 0.25), 'waiting for team', 'the fourth request');
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'held 0.25', 'the third request, again');
    expectEqual(await reserve(store, 'd', 'team', 0.25), 'held 0.25', 'the fourth request, again');
  }),
  waiting('a full budget below does not block requests beside it [U4]', async ({ store }) => {
    await store.define({ name: 'all', limits: { usd: 10 } });
    await store.define({ name: 'ann', parent: 'all', limits: { usd: 1 } });
    await store.define({ name: 'bob', parent: 'all', limits: { usd: 1 } });
    await reserve(store, 'a', 'ann', 1);
    expectEqual(await reserve(store, 'b', 'ann', 1), 'waiting for ann', 'the second of ann');
    expectEqual(await reserve(store, 'c', 'bob', 1), 'held 1', 'the first of bob');
  }),
  waiting('a request that has waited long enough takes the room there is [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    const part = { least: dollars(0.125) };
    expectEqual(await reserve(store, 'b', 'team', 0.5, part), 'waiting for team', 'the second request');
    expectEqual(
      await reserve(store, 'b', 'team', 0.5, { ...part, isLast: true }),
      'held 0.25',
      'its last try',
    );
    expectEqual(
      await reserve(store, 'c', 'team', 0.5, { ...part, isLast: true }),
      'refused by usd of team',
      'a request without room',
    );
  }),
  waiting('a request that gives up no longer holds up others [U4]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    await reserve(store, 'b', 'team', 1);
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'waiting for team', 'the third request');
    await store.settle('b', { usd: 0, tokens: 0, requests: 0 });
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'held 0.25', 'the third request, again');
    await expectBalance(store, 'team', 0, 1);
  }),
  silence('a request that no longer asks loses its place [U4]', async ({ store, pass }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.75);
    await reserve(store, 'b', 'team', 1);
    pass(10_000);
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'waiting for team', 'soon after');
    pass(6000);
    expectEqual(await reserve(store, 'c', 'team', 0.25), 'held 0.25', 'long after');
  }),
  waiting('a request that waits follows its budget to another parent [U2]', async ({ store }) => {
    await store.define({ name: 'one', limits: { usd: 1 } });
    await store.define({ name: 'two', limits: { usd: 1 } });
    await store.define({ name: 'ann', parent: 'one', limits: {} });
    await reserve(store, 'a', 'ann', 0.75);
    expectEqual(await reserve(store, 'b', 'ann', 0.5), 'waiting for one', 'below the first parent');
    await store.define({ name: 'ann', limits: {} });
    expectEqual(await reserve(store, 'b', 'ann', 0.5), 'held 0.5', 'without a parent');
    await expectBalance(store, 'one', 0, 0.75);
  }),
  waiting('what is spent already is refused at once [U1]', async ({ store }) => {
    await store.define({ name: 'team', limits: { usd: 1 } });
    await reserve(store, 'a', 'team', 0.5);
    await store.settle('a', dollars(0.5));
    await reserve(store, 'b', 'team', 0.25);
    expectEqual(await reserve(store, 'c', 'team', 0.75), 'refused by usd of team', 'the third request');
  }),
];
