import type { Event, SessionStore } from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';
import { spendingOf } from '@cobbler/agent/events';
import { forkSession } from '@cobbler/agent/fork';
import type { CostQuery, CostRow } from '@cobbler/agent/store';
import { costGroups as groups, readCosts } from '@cobbler/agent/store';
import {
  answered,
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  scriptedAgent,
  wholeRun,
  write,
} from '@cobbler/agent/testing';
import type { StoreCase, StoreSetup } from './case.ts';
import { group, reopening } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('costs');
const afterReopening = reopening('costs');

const clock = { now: () => 1_767_312_000_000 };

/** Prices that are exact in binary, so that the order of an addition does not change a sum. */
const priced = answered('Priced.', { model: 'model-b', usd: 0.25 });

const paid: readonly EventBody[] = [
  said('Go.'),
  priced,
  answered('Unpriced.', { model: 'model-a' }),
  {
    type: 'compacted',
    upTo: 0,
    summary: '',
    spent: {
      usage: { inputTokens: 700, outputTokens: 30, cacheReadTokens: 500, reasoningTokens: 10 },
      wasted: { inputTokens: 8, outputTokens: 1 },
      attempts: 3,
      answers: 2,
      durationMs: 9,
      usd: 0.5,
    },
  },
  {
    type: 'ask_failed',
    error: {
      kind: 'agent',
      message: 'It broke.',
      attempts: 2,
      wasted: { inputTokens: 60, outputTokens: 4 },
    },
    durationMs: 5,
    usd: 0.125,
  },
  ended(),
];

const paidTool = {
  usage: { inputTokens: 10, outputTokens: 5 },
  wasted: { inputTokens: 0, outputTokens: 0 },
  attempts: 1,
  durationMs: 3,
  usd: 1,
};

/** Appends events as a run writes them: one at a time. */
async function append(store: SessionStore, id: string, events: readonly Event[]): Promise<void> {
  const epoch = await store.claim(id);
  for (const event of events) await store.append(id, [event], { epoch });
}

async function costs(store: SessionStore, query: CostQuery): Promise<readonly CostRow[]> {
  const rows = await store.costs?.(query);
  expect(rows !== undefined, 'a method `costs`; if the store has none, say why in `noCosts` of the subject');
  return rows ?? [];
}

/** Checks that the costs are those of all events in the store. */
async function expectComplete({ store }: Pick<StoreSetup, 'store'>): Promise<void> {
  const reader = {
    claim: () => 0,
    append() {},
    sessions: () => store.sessions(),
    read: (id: string, after?: number, limit?: number) => store.read(id, after, limit),
  };
  const spent: { usd: number; inputTokens: number; wasted: number }[] = [];
  for (const id of await store.sessions())
    for (const event of await store.read(id)) {
      const { usd = 0, usage, wasted } = spendingOf(event) ?? {};
      if (usage === undefined || wasted === undefined) continue;
      spent.push({
        usd,
        inputTokens: usage.inputTokens,
        wasted: wasted.inputTokens + wasted.outputTokens,
      });
    }
  for (const by of groups) {
    const rows = await costs(store, { by });
    expectEqual(rows, await readCosts(reader, { by }), `the costs by ${by}`);
    const sum = (of: (row: CostRow) => number) => rows.reduce((total, row) => total + of(row), 0);
    const expected = spent.reduce(
      (total, each) => ({
        usd: total.usd + each.usd,
        inputTokens: total.inputTokens + each.inputTokens,
        wasted: total.wasted + each.wasted,
      }),
      { usd: 0, inputTokens: 0, wasted: 0 },
    );
    expectEqual(
      {
        usd: sum(({ usd }) => usd),
        inputTokens: sum((row) => row.inputTokens),
        wasted: sum((row) => row.wastedTokens),
      },
      expected,
      `the sum by ${by}`,
    );
  }
}

const keysOf = (rows: readonly CostRow[]) => rows.map(({ key }) => key);

export const costCases: readonly StoreCase[] = [
  the('an empty store has no costs', async ({ store }) => {
    for (const by of groups) expectEqual(await costs(store, { by }), [], `the costs by ${by}`);
  }),
  the('the costs are the sum of what the events spent, by each group', async (setup) => {
    const { store } = setup;
    await append(store, 'one', eventsOf('one', paid));
    await write(store, 'two', [...paid, ...paid]);
    await write(store, 'three', wholeRun('Go.', 20));
    await expectComplete(setup);
    const kinds = await costs(store, { by: 'kind' });
    expectEqual(keysOf(kinds).sort(), ['compaction', 'failed', 'model'], 'the kinds');
    const failed = kinds.find(({ key }) => key === 'failed');
    expectEqual(
      [failed?.requests, failed?.wastedTokens, failed?.inputTokens, failed?.usd],
      [6, 192, 0, 0.375],
      'the failed requests',
    );
    const models = await costs(store, { by: 'model' });
    expect(keysOf(models).includes(null), 'a row without a name for requests whose model is not known');
  }),
  the('an unknown price is counted and never added as zero', async ({ store }) => {
    await append(store, 'one', eventsOf('one', paid));
    const rows = await costs(store, { by: 'model' });
    expectEqual(
      rows.map(({ key, requests, unpriced, usd }) => [key, requests, unpriced, usd]),
      [
        [null, 5, 0, 0.625],
        ['model-b', 1, 0, 0.25],
        ['model-a', 1, 1, 0],
      ],
      'the models, the most expensive first',
    );
  }),
  the('a model that failed before another responded is counted under its own name', async ({ store }) => {
    const failed = { provider: 'one', kind: 'network', message: 'The response was cut off.' } as const;
    const used = { inputTokens: 40, outputTokens: 2 };
    const cut = { ...failed, model: 'model-a', attempts: 2, wasted: used, usd: 0.5 };
    const tried = [
      cut,
      { ...failed, model: 'model-c', skipped: true },
      {
        ...failed,
        model: 'model-d',
        attempts: 1,
        wasted: { inputTokens: 5, outputTokens: 0 },
        unpriced: true,
      },
    ];
    const wasted = { inputTokens: 45, outputTokens: 2 };
    const rest = { wasted, attempts: 4 };
    const events = [
      // A model and its retry, and then another model.
      { ...answered('Hi.', { model: 'model-b', usd: 0.75 }), attempts: 3, tried: [cut], wasted: used },
      // The price of one is unknown.
      { ...answered('Hi.', { model: 'model-b' }), ...rest, tried },
      {
        ...{ type: 'ask_failed', durationMs: 0, provider: 'two', model: 'model-b' },
        error: { kind: 'network', message: 'Both failed.', ...rest, tried },
      },
      {
        type: 'spent',
        who: 'agent',
        model: 'model-b',
        spent: { ...paidTool, ...rest, usd: 2, tried: [cut] },
      },
      // Written by an earlier version.
      {
        ...answered('Hi.', { model: 'model-b', usd: 1 }),
        ...{ attempts: 2, tried: [{ ...failed, model: 'model-e', attempts: 1 }] },
      },
    ] as const;
    await append(store, 'one', eventsOf('one', events as readonly EventBody[]));
    const models = await costs(store, { by: 'model' });
    expectEqual(
      models.map(({ key, requests, unpriced, usd, wastedTokens }) => [
        key,
        requests,
        unpriced,
        usd,
        wastedTokens,
      ]),
      [
        ['model-b', 7, 1, 2.75, 5],
        ['model-a', 8, 0, 2, 168],
        ['model-d', 2, 2, 0, 10],
      ],
      'the models',
    );
    expectEqual(keysOf(await costs(store, { by: 'kind' })).sort(), ['agent', 'failed', 'model'], 'the kinds');
  }),
  the('requests are grouped by the user and the tool that they were for', async (setup) => {
    const { store } = setup;
    const spent = { who: 'tool', spent: { ...paidTool }, callId: 'a', toolName: 'search' } as const;
    const events = eventsOf('one', [priced, { type: 'spent', ...spent }, priced]);
    const users = ['ann', 'ann', 'bob\u0000'];
    await append(
      store,
      'one',
      events.map((event, index) => ({ ...event, user: users[index] ?? '' })),
    );
    await write(store, 'two', [priced, ended()]);
    const rowsBy = async (by: CostQuery['by']) =>
      (await costs(store, { by })).map(({ key, usd }) => [key?.replaceAll('\u0000', ''), usd]);
    expectEqual(
      await rowsBy('user'),
      [
        ['ann', 1.25],
        [undefined, 0.25],
        ['bob', 0.25],
      ],
      'the users',
    );
    expectEqual(
      await rowsBy('tool'),
      [
        ['search', 1],
        [undefined, 0.75],
      ],
      'the tools',
    );
  }),
  the('the costs of one user are those of no other, by each group', async ({ store }) => {
    const users = ['ann', 'ann', 'bob\u0000', "o'neil"];
    const events = eventsOf(
      'one',
      users.map(() => priced),
    );
    await append(
      store,
      'one',
      events.map((event, index) => ({ ...event, user: users[index] ?? '' })),
    );
    await write(store, 'two', [priced, ended()]);
    for (const by of groups) {
      const requestsOf = async (user: string) => {
        const rows = await costs(store, { by, user });
        return rows.reduce((sum, { requests }) => sum + requests, 0);
      };
      const found = await Promise.all(['ann', 'bob\u0000', "o'neil", 'nobody', ''].map(requestsOf));
      expectEqual(found, [2, 1, 1, 0, 1], `the requests of each user by ${by}`);
    }
    const query = { by: 'day', user: 'ann', timeZone: 'Europe/Berlin' } as const;
    expectEqual((await costs(store, query)).length, 1, 'the days of a user in a time zone');
  }),
  the('a request that a limit refused is in no group', async ({ store }) => {
    const error = { kind: 'limit', message: 'The limit is reached.' } as const;
    await append(store, 'one', eventsOf('one', [said('Go.'), { type: 'ask_failed', error, durationMs: 0 }]));
    for (const by of groups) expectEqual(await costs(store, { by }), [], `the costs by ${by}`);
  }),
  the('requests that a fork copied are counted once', async (setup) => {
    const { store } = setup;
    await append(store, 'one', eventsOf('one', paid));
    await forkSession(store, { from: 'one', to: 'two' }, clock);
    expectEqual(keysOf(await costs(store, { by: 'session' })), ['one'], 'the sessions that spent something');
    await write(store, 'two', [said('Continue.'), priced, ended()]);
    await expectComplete(setup);
    // This is how a prompt is undone: a copy without it continues, and its costs stay.
    await forkSession(store, { from: 'two', to: 'three', upToSeq: 2 }, clock);
    await write(store, 'three', [said('Once more.'), priced, ended()]);
    await expectComplete(setup);
    expectEqual(keysOf(await costs(store, { by: 'session' })), ['one', 'three', 'two'], 'the sessions');
  }),
  the('a rejected append costs nothing', async (setup) => {
    const { store } = setup;
    const events = eventsOf('one', paid);
    const epoch = await store.claim('one');
    await store.append('one', events, { epoch });
    await expectRefused(() => store.append('one', events, { epoch }), 'gap', 'repeated events');
    const next = eventsOf('one', [priced], events.length);
    await expectRefused(() => store.append('one', next, { epoch: epoch - 1 }), 'fenced', 'an old writer');
    await expectComplete(setup);
  }),
  the('the costs of a deleted session remain', async ({ store, pass }) => {
    await append(store, 'one', eventsOf('one', paid));
    await append(store, 'two', eventsOf('two', paid));
    const before = await Promise.all(groups.map((by) => costs(store, { by })));
    await store.delete('one');
    pass(1000);
    await store.prune({ olderThanMs: 0, keepLast: 0 });
    expectEqual(await store.sessions(), [], 'the sessions');
    expectEqual(await Promise.all(groups.map((by) => costs(store, { by }))), before, 'the costs');
    await append(store, 'one', eventsOf('one', paid));
    const [one] = await costs(store, { by: 'session' });
    expectEqual([one?.key, one?.usd], ['one', 1.75], 'the costs of a new session with the same id');
  }),
  the('a period limits the costs, and days are those of a time zone', async ({ store }) => {
    const times = ['2026-03-28T23:30:00.000Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00.000Z'];
    const events = eventsOf(
      'one',
      times.map(() => priced),
    ).map((event, index) => ({ ...event, time: times[index] ?? '' }));
    await append(store, 'one', events);
    const days = async (query: Omit<CostQuery, 'by'>) =>
      (await costs(store, { by: 'day', ...query })).map(({ key, requests }) => `${key} ${requests}`);
    expectEqual(await days({}), ['2026-03-28 1', '2026-03-29 2'], 'the days in UTC');
    // A day of 23 hours.
    expectEqual(await days({ timeZone: 'Europe/Berlin' }), ['2026-03-29 2', '2026-03-30 1'], 'in Berlin');
    const since = 1_774_820_700_000;
    const until = since + 900_000;
    expectEqual(await days({ since }), ['2026-03-29 2'], 'the days since a time');
    expectEqual(await days({ until }), ['2026-03-28 1', '2026-03-29 1'], 'the days until a time');
    expectEqual(await days({ since, until }), ['2026-03-29 1'], 'the days of a period');
    expectEqual(await days({ since: until, until: since }), [], 'a period that ends before it starts');
    for (const by of groups) {
      const [row] = await costs(store, { by, since, until });
      expectEqual([row?.requests, row?.first, row?.last], [1, since, since], `the period by ${by}`);
    }
  }),
  the('costs are deleted up to a time, and the others and the sessions remain', async ({ store }) => {
    const times = ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'];
    const events = eventsOf('one', [priced, priced]).map((event, index) => {
      return { ...event, time: times[index] ?? '' };
    });
    await append(store, 'one', events);
    expectEqual(await store.deleteCosts?.(0), 0, 'requests before the first');
    const february = 1_769_904_000_000;
    expectEqual(await store.deleteCosts?.(february), 1, 'requests before February');
    expectEqual(keysOf(await costs(store, { by: 'day' })), ['2026-02-01'], 'the days');
    expectEqual((await store.read('one')).length, 2, 'the events');
    await expectRefused(() => Promise.resolve(store.deleteCosts?.(Number.NaN)), 'bad_option', 'not a time');
    await write(store, 'one', [said('More.'), priced, ended()]);
    expectEqual((await costs(store, { by: 'session' }))[0]?.requests, 2, 'the requests');
  }),
  the('an invalid query is rejected', async ({ store }) => {
    const queries = [
      { by: 'colour' },
      { by: 'day', since: 'monday' },
      { by: 'day', timeZone: 'Nowhere' },
      {},
    ];
    for (const query of queries)
      await expectRefused(() => costs(store, query as CostQuery), 'bad_option', JSON.stringify(query));
  }),
  afterReopening('the costs are there after a reopen', async (setup) => {
    await append(setup.store, 'one', eventsOf('one', paid));
    await setup.reopen();
    await expectComplete(setup);
    await write(setup.store, 'one', [said('More.'), priced, ended()]);
    await expectComplete(setup);
  }),
  afterReopening('a run that another process continues, and a fork, count for its user', async (setup) => {
    const look = defineTool({
      ...{ name: 'look', description: 'Looks.', parameters: {}, effect: 'read' },
      execute: (_args, { user }) => `for ${user}`,
    });
    const agent = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }, 'Done.'], { repeat: true });
    const executor = () => new Executor({ agent, tools: [look], store: setup.store });
    const ids = { sessionId: 'one', runId: 'run' };
    await executor().advance({ ...ids, prompt: 'Go.', user: 'ann' });
    await setup.reopen();
    const { messages } = await executor().resume('one').result;
    expect(JSON.stringify(messages).includes('for ann'), 'a tool that knows the user');
    await forkSession(setup.store, { from: 'one', to: 'two' }, clock);
    await executor().run('More.', { sessionId: 'two' }).result;
    await executor().run('Go.', { sessionId: 'two', user: 'bob' }).result;
    const users = await costs(setup.store, { by: 'user' });
    expectEqual(
      users.map(({ key, requests }) => `${key} ${requests}`).sort(),
      ['ann 4', 'bob 2'],
      'the requests of each user',
    );
  }),
];
