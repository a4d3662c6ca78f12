import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { CostQuery, CostRow } from '@cobbler/agent/store';
import { afterAll, expect, test } from 'vitest';
import { storeContract } from '../src/store/store-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-cost-faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Costs = (query: CostQuery) => Promise<readonly CostRow[]>;

/** A fault of a store, which replaces some of its methods. `calls` counts how often the store was opened. */
type Fault = (store: SessionStore, costs: Costs, opened: number) => Partial<SessionStore>;

const zero = {
  ...{ key: 'none', requests: 0, unpriced: 0, usd: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 },
  ...{ cacheWriteTokens: 0, reasoningTokens: 0, wastedTokens: 0, first: 0, last: 0 },
};

const mapped =
  (change: (row: CostRow, query: CostQuery) => Partial<CostRow>): Fault =>
  (_, costs) => ({
    costs: async (query) => (await costs(query)).map((row) => ({ ...row, ...change(row, query) })),
  });

/** By case: the faults that it must detect. */
const faults: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  'an empty store has no costs': {
    'a row of zeros': (_, costs) => ({
      costs: async (query) => ((rows) => (rows.length === 0 ? [zero] : rows))(await costs(query)),
    }),
  },
  'the costs are the sum of what the events spent, by each group': {
    'no failed requests': (_, costs) => ({
      costs: async (query) => (await costs(query)).filter(({ key }) => key !== 'failed'),
    }),
    'a lost day': (_, costs) => ({
      costs: async (query) => (query.by === 'day' ? [] : await costs(query)),
    }),
    'doubled reasoning tokens': mapped((row) => ({ reasoningTokens: row.reasoningTokens * 2 })),
    'no name for unknown models': mapped(({ key }) => ({ key: key ?? '' })),
  },
  'an unknown price is counted and never added as zero': {
    'no unpriced requests': mapped(() => ({ unpriced: 0 })),
    'another order': (_, costs) => ({ costs: async (query) => (await costs(query)).toReversed() }),
  },
  'requests are grouped by the user and the tool that they were for': {
    'no users': mapped((row, { by }) => ({ key: by === 'user' ? null : row.key })),
    'no tools': mapped((row, { by }) => ({ key: by === 'tool' ? null : row.key })),
  },
  'the costs of one user are those of no other, by each group': {
    'the costs of all users': (_, costs) => ({ costs: ({ user: _user, ...query }) => costs(query) }),
  },
  'a model that failed before another responded is counted under its own name': {
    'only models that responded': (_, costs) => ({
      costs: async (query) => (await costs(query)).filter(({ key }) => key !== 'model-a'),
    }),
    'no other price of a model that failed': mapped(({ unpriced, usd }) => ({ usd: unpriced > 0 ? 0 : usd })),
  },
  'a run that another process continues, and a fork, count for its user': {
    'no user after a reopen': (_, costs, opened) => ({
      costs: async (query) =>
        (await costs(query)).map((row) => (query.by === 'user' && opened > 1 ? { ...row, key: null } : row)),
    }),
  },
  'a request that a limit refused is in no group': {
    'a row of zeros for it': (store, costs) => ({
      costs: async (query) =>
        (await store.sessions()).length > 0 ? [...(await costs(query)), zero] : await costs(query),
    }),
  },
  'requests that a fork copied are counted once': {
    'a fork that pays again': (_, costs) => ({
      costs: async (query) => {
        const rows = await costs(query);
        return query.by === 'session' ? [...rows, { ...zero, key: 'two' }] : rows;
      },
    }),
  },
  'a rejected append costs nothing': {
    'a cost without its event': (store, costs) => {
      let rejected = 0;
      return {
        append: async (...given) => {
          try {
            await store.append(...given);
          } catch (error) {
            rejected += 1;
            throw error;
          }
        },
        costs: async (query) =>
          (await costs(query)).map((row) => ({ ...row, requests: row.requests + rejected })),
      };
    },
  },
  'the costs of a deleted session remain': {
    'a session deleted with its costs': (store, costs) => ({
      costs: async (query) => {
        const sessions = await store.sessions();
        const rows = await costs(query);
        return query.by === 'session' ? rows.filter(({ key }) => sessions.includes(key ?? '')) : rows;
      },
    }),
  },
  'a period limits the costs, and days are those of a time zone': {
    'days of UTC': (_, costs) => ({ costs: ({ timeZone: _zone, ...query }) => costs(query) }),
    'no end': (_, costs) => ({ costs: ({ until: _until, ...query }) => costs(query) }),
    'no start': (_, costs) => ({ costs: ({ since: _since, ...query }) => costs(query) }),
    'the time of the last request only': mapped(({ last }) => ({ first: last - 1 })),
  },
  'costs are deleted up to a time, and the others and the sessions remain': {
    'nothing deleted': () => ({ deleteCosts: async () => 1 }),
    'everything deleted': (store) => ({ deleteCosts: () => store.deleteCosts?.(9e12) ?? Promise.resolve(0) }),
    'no number': (store) => ({
      deleteCosts: async (before) => {
        await store.deleteCosts?.(before);
        return 0;
      },
    }),
    'no check of the time': (store) => ({
      deleteCosts: async (before) => (Number.isNaN(before) ? 0 : ((await store.deleteCosts?.(before)) ?? 0)),
    }),
  },
  'an invalid query is rejected': {
    'no check': (_, costs) => ({ costs: (query) => costs(query).catch(() => []) }),
  },
  'the costs are there after a reopen': {
    'costs in memory': (_, costs, opened) => ({
      costs: async (query) => (opened > 1 ? [] : await costs(query)),
    }),
  },
};

let places = 0;

/** Returns the cases of the costs for a store with a fault. */
function casesWith(fault?: Fault) {
  return storeContract({
    name: 'faulty',
    place(now) {
      const file = join(folder, String(places++), 'sessions.db');
      let opened = 0;
      return {
        open() {
          opened += 1;
          const store = sqliteStore(file, { now });
          const costs: Costs = async (query) => (await store.costs?.(query)) ?? [];
          const changed = fault?.(store, costs, opened) ?? {};
          return new Proxy(store, {
            get(target, name) {
              const value = Reflect.get({ ...changed }, name) ?? Reflect.get(target, name);
              return typeof value === 'function' ? value.bind(target) : value;
            },
          });
        },
      };
    },
  }).filter(({ group }) => group === 'costs');
}

test('each case of the costs has a planted fault', () => {
  expect(Object.keys(faults).sort()).toEqual(
    casesWith()
      .map(({ name }) => name)
      .sort(),
  );
});

test.each(casesWith().map(({ name, run }) => ({ name, run })))('"$name" passes without a fault', ({ run }) =>
  run(),
);

const planted = Object.entries(faults).flatMap(([name, each]) =>
  Object.entries(each).map(([what, fault]) => ({ name, what, fault })),
);

test.each(planted)('"$name" detects $what', async ({ name, fault }) => {
  const found = casesWith(fault).find((one) => one.name === name);
  await expect(found?.run()).rejects.toThrow();
});
