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
  fork('a fork begins with the events of its parent and goes its own way', async ({ store }) => {
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
      'what the fork cost: its own run alone',
    );
    await store.delete('one');
    expectEqual((await store.info('two'))?.parent, info?.parent, 'the parent once it is gone');
  }),
  fork('at any event: what follows is a valid conversation', async ({ store }) => {
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
  fork('an event or a session that is not there cannot be forked from', async ({ store }) => {
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
  deletion('what was deleted is gone, and nothing else is', async ({ store }) => {
    for (const id of ['one', 'two', 'three']) await write(store, id, wholeRun(id, 80));
    const kept = await store.read('three');
    expectEqual(await store.delete('two'), true, 'whether it was deleted');
    expectEqual(await store.delete('two'), false, 'whether it was deleted again');
    expectEqual(await store.read('two'), [], 'its events');
    expectEqual(await store.info('two'), undefined, 'what is known of it');
    expectEqual(await store.sessions(), ['one', 'three'], 'the sessions');
    expectEqual(await store.read('three'), kept, 'the events of another');
  }),
  deletion('a session deleted while it is written to shuts its writer out', async ({ store }) => {
    const epoch = await write(store, 'one', [said('a')]);
    expectEqual(await store.delete('one'), true, 'whether it was deleted');
    await expectRefused(
      () => store.append('one', eventsOf('one', [said('b')], 1), { epoch }),
      'fenced',
      'its writer',
    );
    expectEqual(await store.sessions(), [], 'the sessions');
  }),
  deletion('a session begun anew under an old id has nothing of the old one', async ({ store }) => {
    await write(store, 'one', wholeRun('Old.', 90));
    await store.rename('one', 'Old title');
    await store.delete('one');
    await write(store, 'one', wholeRun('New.'));
    const info = await store.info('one');
    expectEqual(
      [info?.title, info?.events, info?.parent],
      ['New.', wholeRun().length, undefined],
      'what it is',
    );
    expectEqual(
      await store.read('one'),
      eventsOf('one', wholeRun('New.'), 0, (await store.read('one'))[0]?.runId),
      'its events',
    );
  }),
  deletion('to give back room takes nothing away', async ({ store }) => {
    for (let index = 0; index < 20; index += 1)
      await write(store, `session-${index}`, wholeRun('x'.repeat(50_000)));
    for (let index = 1; index < 20; index += 1) await store.delete(`session-${index}`);
    await store.claim('never-begun');
    const kept = await store.read('session-0');
    const freed = await store.vacuum();
    expect(freed >= 0, `the bytes freed, found ${freed}`);
    expectEqual(await store.read('session-0'), kept, 'the events');
    await write(store, 'session-0', wholeRun());
  }),
  afterReopening('what was deleted does not come back', async (stage) => {
    await write(stage.store, 'one', wholeRun());
    await write(stage.store, 'two', wholeRun());
    await stage.store.delete('one');
    await stage.reopen();
    expectEqual(await stage.store.sessions(), ['two'], 'the sessions');
  }),
];

export const retentionCases: readonly StoreCase[] = [
  retention('what both rules allow is deleted, and its ids are told', async ({ store, pass }) => {
    const make = async (id: string) => {
      await write(store, id, wholeRun(id));
      pass(day);
    };
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await make(id);
    expectEqual(await store.prune({ olderThanMs: 7 * day }), [], 'what is older than a week');
    expectEqual(await store.prune({ olderThanMs: 6 * day }), ['a'], 'what is six days old');
    expectEqual(
      await store.prune({ olderThanMs: 2 * day, keepLast: 3 }),
      ['c', 'b'],
      'old ones behind the last three',
    );
    expectEqual(await store.prune({ keepLast: 2 }), ['d'], 'all but the last two');
    expectEqual(await store.prune({ keepLast: 9 }), [], 'all but the last nine');
    expectEqual(await store.sessions(), ['e', 'f'], 'what is left');
    expectEqual(await store.prune({ olderThanMs: 0 }), ['f', 'e'], 'whatever its age');
  }),
  retention('a session with a run under way stays', async ({ store, pass }) => {
    await write(store, 'over', wholeRun());
    const epoch = await write(store, 'running', [said('Go.')]);
    pass(100 * day);
    expectEqual(await store.prune({ keepLast: 0 }), ['over'], 'what was deleted');
    await store.append('running', eventsOf('running', [ended()], 1), { epoch });
    expectEqual(await store.prune({ keepLast: 0 }), ['running'], 'what was deleted in the end');
  }),
  retention('no rule, or one that makes no sense, deletes nothing', async ({ store, pass }) => {
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
