import type { SessionInfo, SessionStore } from '@cobbler/agent';
import { forkSession } from '@cobbler/agent/fork';
import { exportSession } from '@cobbler/agent/format';
import { expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';

const the = group('shares');
const afterReopening = reopening('shares');

const sharesIn = (info: SessionInfo | undefined) =>
  info?.shares?.map(({ user, may }) => `${user} ${may}`).sort();

/** Returns the shares of a session, which a list and the session itself state alike. */
async function sharesOf(store: SessionStore, id: string): Promise<readonly string[] | undefined> {
  const shares = sharesIn(await store.info(id));
  const { sessions } = await store.list({ limit: 1000 });
  expectEqual(sharesIn(sessions.find((info) => info.id === id)), shares, `the shares of ${id} in the list`);
  return shares;
}

export const shareCases: readonly StoreCase[] = [
  the('a session is shared with each user at one level, until that ends', async ({ store }) => {
    await write(store, 'one', wholeRun());
    await write(store, 'two', wholeRun());
    expectEqual(await sharesOf(store, 'one'), undefined, 'the shares at first');
    expectEqual(await store.share('one', 'ann', 'read'), true, 'whether the session was shared');
    await store.share('one', 'bob', 'approve');
    await store.share('one', 'ann', 'use');
    expectEqual(await sharesOf(store, 'one'), ['ann use', 'bob approve'], 'the shares');
    expectEqual(await sharesOf(store, 'two'), undefined, 'the shares of another session');
    await write(store, 'one', [said('More.')]);
    await store.rename('one', 'Uno');
    expectEqual(
      await sharesOf(store, 'one'),
      ['ann use', 'bob approve'],
      'the shares after a run and a rename',
    );
    await store.share('one', 'ann');
    await store.share('one', 'eve');
    expectEqual(await sharesOf(store, 'one'), ['bob approve'], 'the shares after one has ended');
    expectEqual(await store.share('one', 'bob'), true, 'whether the last share has ended');
    expectEqual(await sharesOf(store, 'one'), undefined, 'the shares after the last one has ended');
  }),
  the('a session that does not exist or is empty is not shared', async ({ store }) => {
    expectEqual(await store.share('none', 'ann', 'read'), false, 'whether an unknown session was shared');
    await store.claim('new');
    expectEqual(await store.share('new', 'ann', 'read'), false, 'whether an empty session was shared');
    await write(store, 'new', wholeRun());
    expectEqual(await sharesOf(store, 'new'), undefined, 'the shares of the session after its first run');
  }),
  the('concurrent changes of the shares do not undo each other', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const users = Array.from({ length: 20 }, (_, index) => `user-${10 + index}`);
    await store.share('one', 'ann', 'use');
    await Promise.all([store.share('one', 'ann'), ...users.map((user) => store.share('one', user, 'read'))]);
    expectEqual(
      await sharesOf(store, 'one'),
      users.map((user) => `${user} read`),
      'the shares',
    );
  }),
  the('the name of a user can be any text', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const names = ['__proto__', "o'hara", '"], [', 'Zoë \u0000 🐛', 'toString'];
    for (const user of names) await store.share('one', user, 'read');
    expectEqual(
      (await store.info('one'))?.shares?.map(({ user }) => user),
      names,
      'the users',
    );
    await store.share('one', '__proto__');
    expectEqual(
      (await store.info('one'))?.shares?.map(({ user }) => user),
      names.slice(1),
      'the other users',
    );
  }),
  the('forks, exports and a new session with the same id do not contain the shares', async ({ store }) => {
    await write(store, 'one', wholeRun());
    await store.share('one', 'ann', 'use');
    await forkSession(store, { from: 'one', to: 'two' }, { now: () => 1_767_312_000_000 });
    expectEqual(await sharesOf(store, 'two'), undefined, 'the shares of the fork');
    const lines = await Array.fromAsync(exportSession(store, 'one'));
    expectEqual(lines.join('').includes('ann'), false, 'whether the export names the user');
    await store.delete('one');
    await write(store, 'one', wholeRun());
    expectEqual(await sharesOf(store, 'one'), undefined, 'the shares of the new session');
  }),
  afterReopening('shares are kept after a reopen', async (setup) => {
    await write(setup.store, 'one', wholeRun());
    await setup.store.share('one', 'ann', 'approve');
    await setup.reopen();
    expectEqual(await sharesOf(setup.store, 'one'), ['ann approve'], 'the shares');
    await setup.store.share('one', 'ann');
    await setup.reopen();
    expectEqual(await sharesOf(setup.store, 'one'), undefined, 'the shares after the last one has ended');
  }),
];
