import { expect, test } from 'vitest';
import type { Amounts, BudgetStore } from '../../src/store/budgets/index.ts';
import { BudgetClient, memoryBudgets } from '../../src/store/budgets/index.ts';
import type { FakeRuntime } from '../../src/testing/index.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { AgentError } from '../../src/values/errors.ts';

const usd = (amount: number): Amounts => ({ usd: amount, tokens: 0, requests: 1 });

function request(id: string, wanted: number, least: number = wanted) {
  return { id, budget: 'team', sessionId: 's', runId: 'r', wanted: usd(wanted), least: usd(least) };
}

interface Setup {
  readonly runtime: FakeRuntime;
  readonly store: BudgetStore;
  readonly client: BudgetClient;
  /** Reserves, and records the result in `results`. */
  reserve(id: string, wanted: number, least?: number): void;
  readonly results: string[];
}

/** A budget of one dollar per day. */
async function setup(waitMs?: number): Promise<Setup> {
  const runtime = fakeRuntime();
  const store = memoryBudgets({ runtime });
  await store.define({ name: 'team', per: 'day', limits: { usd: 1 } });
  const client = new BudgetClient({ store, runtime, ...(waitMs !== undefined && { waitMs }) });
  const results: string[] = [];
  const reserve = (id: string, wanted: number, least?: number) => {
    client.reserve(request(id, wanted, least)).then(
      (amounts) => results.push(`${id}: ${amounts.usd}`),
      (error: unknown) => results.push(`${id}: ${AgentError.is(error) ? error.code : error}`),
    );
  };
  return { runtime, store, client, reserve, results };
}

test('a reservation is returned at once if there is room', async () => {
  const { runtime, client } = await setup();
  expect(await client.reserve(request('a', 0.5))).toEqual(usd(0.5));
  expect(await client.reserve(request('b', 0.5))).toEqual(usd(0.5));
  // The heartbeat is only needed for a store of several processes.
  expect(runtime.timers).toBe(0);
});

test('requests of this process ask again at once when a reservation is settled, in order [U4]', async () => {
  const { runtime, client, reserve, results } = await setup();
  for (const [id, amount] of [
    ['a', 1],
    ['b', 0.75],
    ['c', 0.25],
  ] as const)
    reserve(id, amount);
  await runtime.advance(1000);
  expect(results).toEqual(['a: 1']);
  await client.settle('a', usd(0));
  await runtime.advance(0);
  expect(results).toEqual(['a: 1', 'b: 0.75', 'c: 0.25']);
  expect(runtime.timers).toBe(0);
});

test('the settlement of another process is noticed after 50 to 500 ms', async () => {
  const { runtime, store, reserve, results } = await setup();
  let polls = 0;
  reserve('a', 1);
  await runtime.advance(0);
  const reserveOfStore = store.reserve.bind(store);
  store.reserve = (given) => {
    polls += 1;
    return reserveOfStore(given);
  };
  reserve('b', 1);
  const polled: number[] = [];
  for (const ms of [0, 50, 100, 200, 400, 500, 500]) {
    await runtime.advance(ms);
    polled.push(polls);
  }
  expect(polled).toEqual([1, 2, 3, 4, 5, 6, 7]);
  await store.settle('a', usd(0));
  await runtime.advance(499);
  expect(results).toEqual(['a: 1']);
  await runtime.advance(1);
  expect(results).toEqual(['a: 1', 'b: 1']);
});

test('takes the room there is after waitMs, by default 60 s', async () => {
  const { runtime, reserve, results } = await setup();
  reserve('a', 0.75);
  await runtime.advance(0);
  reserve('b', 1, 0.25);
  await runtime.advance(0);
  await runtime.advance(59_999);
  expect(results).toEqual(['a: 0.75']);
  await runtime.advance(1);
  expect(results).toEqual(['a: 0.75', 'b: 0.25']);
});

test('does not wait if waitMs is 0', async () => {
  const { runtime, reserve, results } = await setup(0);
  reserve('a', 0.75);
  reserve('b', 1, 0.25);
  reserve('c', 1, 0.25);
  await runtime.advance(0);
  expect(results).toEqual(['a: 0.75', 'b: 0.25', 'c: usd']);
});

test('the error names the budget, its limit and when its next period starts', async () => {
  const { client } = await setup();
  await client.reserve(request('a', 1));
  await client.settle('a', usd(0.875));
  const error: unknown = await client.reserve(request('b', 1, 0.25)).catch((thrown: unknown) => thrown);
  expect(AgentError.is(error) && error.toJSON()).toEqual({
    kind: 'limit',
    code: 'usd',
    message: `The limit of budget "team" is $1, which leaves too little for this request. Raise the limit or wait for the budget's next period, which starts at 2026-01-02T00:00:00.000Z.`,
  });
});

test('a wait can be cancelled, and holds up no other request afterwards [U4]', async () => {
  const { runtime, client, reserve, results } = await setup();
  for (const [id, amount] of [
    ['a', 0.75],
    ['b', 1],
    ['c', 0.25],
  ] as const)
    reserve(id, amount);
  await runtime.advance(0);
  client.cancel('b');
  await runtime.advance(500);
  expect(results).toEqual(['a: 0.75', 'b: cancelled', 'c: 0.25']);
  client.cancel('a');
  expect(await client.reserve(request('a', 0.75))).toEqual(usd(0.75));
});

test('a request that is cancelled while the store reserves it releases what it got', async () => {
  const { runtime, store, client, reserve, results } = await setup();
  reserve('a', 1);
  client.cancel('a');
  await runtime.advance(0);
  expect(results).toEqual(['a: cancelled']);
  expect((await store.balances(['team']))[0]?.reserved).toEqual({ usd: 0, tokens: 0, requests: 0 });
});

test('an error of the store ends the wait and frees the place', async () => {
  const { runtime, store, client, reserve, results } = await setup();
  reserve('a', 0.75);
  reserve('b', 1);
  await runtime.advance(0);
  const reserveOfStore = store.reserve.bind(store);
  store.reserve = () =>
    Promise.reject(new AgentError({ kind: 'agent', code: 'store_busy', message: 'Busy.' }));
  await runtime.advance(50);
  store.reserve = reserveOfStore;
  expect(results).toEqual(['a: 0.75', 'b: store_busy']);
  expect(await client.reserve(request('c', 0.25))).toEqual(usd(0.25));
});
