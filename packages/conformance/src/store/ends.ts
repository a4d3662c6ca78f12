import { forkSession } from '@cobbler/agent';
import { emptyState, fold } from '@cobbler/agent/events';
import {
  assertValidHistory,
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  wholeRun,
  worked,
  write,
} from '@cobbler/agent/testing';
import type { StoreCase } from './cases.ts';
import { group, reopening } from './cases.ts';
import { expectRefused } from './refusal.ts';

const fork = group('fork');
const deletion = group('delete');
const retention = group('retention');
const afterReopening = reopening('delete');

const day = 86_400_000;
const clock = { now: () => 1_767_312_000_000 };

export const forkCases: readonly StoreCase[] = [
  fork('a fork starts with the events of its parent and continues independently', async ({ store }) => {
    await write(store, 'one', wholeRun('Go.', 3));
    const before = await store.read('one');
    await forkSession(store, { from: 'one', to: 'two' }, clock);
    const copied = before.map((event) => ({
      ...event,
      inherited: true as const,
      id: event.id.replace('one', 'two'),
    }));
    expectEqual(await store.read('two'), copied, 'the events of the fork');
    await write(store, 'two', wholeRun('Elsewhere.'));
    expectEqual(await store.read('one'), before, 'the events of the parent');
    const info = await store.info('two');
    expectEqual(info?.parent, { sessionId: 'one', seq: before.length }, 'the parent');
    await write(store, 'three', wholeRun('Elsewhere.'));
    const own = await store.info('three');
    expectEqual(
      [info?.inputTokens, info?.outputTokens, info?.usd],
      [own?.inputTokens, own?.outputTokens, own?.usd],
      'the cost of the fork: only its own run',
    );
    await store.delete('one');
    expectEqual((await store.info('two'))?.parent, info?.parent, 'the parent after it was deleted');
  }),
  fork('a fork at any event gives a valid conversation', async ({ store }) => {
    await write(store, 'one', [...wholeRun('Go.', 2), said('And?'), ...worked(4)]);
    const all = await store.read('one');
    for (const { seq } of all) {
      const id = `fork-${seq}`;
      await forkSession(store, { from: 'one', to: id, upToSeq: seq }, clock);
      expectEqual((await store.info(id))?.parent, { sessionId: 'one', seq }, `the parent of ${id}`);
      await write(store, id, [said('Next.')]);
      const state = emptyState();
      for (const event of await store.read(id)) fold(state, event);
      assertValidHistory(state.messages);
      expectEqual(state.messages.at(-1)?.role, 'user', `the last message of ${id}`);
    }
  }),
  fork('an unknown event or session cannot be forked', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const tries = [
      [{ from: 'none', to: 'two' }, 'no_session'],
      [{ from: 'one', to: 'two', upToSeq: 99 }, 'no_event'],
      [{ from: 'one', to: 'two', upToSeq: 0 }, 'no_event'],
    ] as const;
    for (const [wanted, code] of tries)
      await expectRefused(() => forkSession(store, wanted, clock), code, JSON.stringify(wanted));
    expectEqual(await store.sessions(), ['one'], 'the sessions');
  }),
];

export const deleteCases: readonly StoreCase[] = [
  deletion('a deleted session is gone, and no other session changes', async ({ store }) => {
    for (const id of ['one', 'two', 'three']) await write(store, id, wholeRun(id, 80));
    const kept = await store.read('three');
    expectEqual(await store.delete('two'), true, 'whether the session was deleted');
    expectEqual(await store.delete('two'), false, 'whether the session was deleted again');
    expectEqual(await store.read('two'), [], 'the events of the deleted session');
    expectEqual(await store.info('two'), undefined, 'the information about the deleted session');
    expectEqual(await store.sessions(), ['one', 'three'], 'the sessions');
    expectEqual(await store.read('three'), kept, 'the events of another session');
  }),
  deletion('deleting a session during a write fences off its writer', async ({ store }) => {
    const epoch = await write(store, 'one', [said('a')]);
    expectEqual(await store.delete('one'), true, 'whether the session was deleted');
    await expectRefused(
      () => store.append('one', eventsOf('one', [said('b')], 1), { epoch }),
      'fenced',
      'the writer of the deleted session',
    );
    expectEqual(await store.sessions(), [], 'the sessions');
  }),
  deletion('a session created under a reused id contains nothing of the old one', async ({ store }) => {
    await write(store, 'one', wholeRun('Old.', 90));
    await store.rename('one', 'Old title');
    await store.delete('one');
    await write(store, 'one', wholeRun('New.'));
    const info = await store.info('one');
    expectEqual(
      [info?.title, info?.events, info?.parent],
      ['New.', wholeRun().length, undefined],
      'the information about the new session',
    );
    expectEqual(
      await store.read('one'),
      eventsOf('one', wholeRun('New.'), 0, (await store.read('one'))[0]?.runId),
      'the events of the new session',
    );
  }),
  deletion('freeing disk space removes no events', async ({ store }) => {
    for (let index = 0; index < 20; index += 1)
      await write(store, `session-${index}`, wholeRun('x'.repeat(50_000)));
    for (let index = 1; index < 20; index += 1) await store.delete(`session-${index}`);
    await store.claim('never-begun');
    const kept = await store.read('session-0');
    const freed = await store.vacuum();
    expect(freed >= 0, `the number of bytes freed, found ${freed}`);
    expectEqual(await store.read('session-0'), kept, 'the events');
    await write(store, 'session-0', wholeRun());
  }),
  afterReopening('deleted sessions stay deleted after a reopen', async (setup) => {
    await write(setup.store, 'one', wholeRun());
    await write(setup.store, 'two', wholeRun());
    await setup.store.delete('one');
    await setup.reopen();
    expectEqual(await setup.store.sessions(), ['two'], 'the sessions');
  }),
];

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
