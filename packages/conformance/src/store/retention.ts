import { ended, eventsOf, expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group } from './case.ts';
import { expectRefused } from './refusal.ts';

const retention = group('retention');

const day = 86_400_000;

export const retentionCases: readonly StoreCase[] = [
  retention(
    'sessions that match both rules are deleted, and their ids are returned',
    async ({ store, pass }) => {
      const make = async (id: string) => {
        await write(store, id, wholeRun(id));
        pass(day);
      };
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await make(id);
      expectEqual(await store.prune({ olderThanMs: 7 * day }), [], 'the sessions older than a week');
      expectEqual(await store.prune({ olderThanMs: 6 * day }), ['a'], 'the sessions at least six days old');
      expectEqual(
        await store.prune({ olderThanMs: 2 * day, keepLast: 3 }),
        ['c', 'b'],
        'the old sessions except the last three',
      );
      expectEqual(await store.prune({ keepLast: 2 }), ['d'], 'all sessions except the last two');
      expectEqual(await store.prune({ keepLast: 9 }), [], 'all sessions except the last nine');
      expectEqual(await store.sessions(), ['e', 'f'], 'the remaining sessions');
      expectEqual(await store.prune({ olderThanMs: 0 }), ['f', 'e'], 'the sessions of any age');
    },
  ),
  retention('a session with a running run is kept', async ({ store, pass }) => {
    await write(store, 'over', wholeRun());
    const epoch = await write(store, 'running', [said('Go.')]);
    pass(100 * day);
    expectEqual(await store.prune({ keepLast: 0 }), ['over'], 'the deleted sessions');
    await store.append('running', eventsOf('running', [ended()], 1), { epoch });
    expectEqual(await store.prune({ keepLast: 0 }), ['running'], 'the deleted sessions after the run');
  }),
  retention('without a valid rule nothing is deleted', async ({ store, pass }) => {
    await write(store, 'one', wholeRun());
    pass(100 * day);
    for (const rules of [
      {},
      { olderThanMs: -1 },
      { keepLast: -1 },
      { keepLast: Number.NaN },
      { olderThanMs: 1, keepLast: -1 },
    ])
      await expectRefused(() => store.prune(rules), 'retention', JSON.stringify(rules));
    expectEqual(await store.sessions(), ['one'], 'the sessions');
  }),
];
