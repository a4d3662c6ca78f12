import { emptyState, fold } from '@cobbler/agent/events';
import { forkSession } from '@cobbler/agent/fork';
import { assertValidHistory, expectEqual, said, wholeRun, worked, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group } from './case.ts';
import { expectRefused } from './refusal.ts';

const fork = group('fork');

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
  fork(
    'a fork belongs to the user that it names, and to the one of its source otherwise',
    async ({ store }) => {
      await write(store, 'one', wholeRun());
      await forkSession(store, { from: 'one', to: 'two', user: 'ann' }, clock);
      await forkSession(store, { from: 'two', to: 'three', user: 'bob' }, clock);
      await forkSession(store, { from: 'two', to: 'four' }, clock);
      const infos = await Promise.all(['one', 'two', 'three', 'four'].map((id) => store.info(id)));
      expectEqual(
        infos.map((info) => info?.user),
        [undefined, 'ann', 'bob', 'ann'],
        'the users',
      );
      const state = emptyState();
      for (const event of await store.read('three')) fold(state, event);
      expectEqual(state.user, 'bob', 'the user of later runs');
    },
  ),
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
