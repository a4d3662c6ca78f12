import { eventsOf, expect, expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';
import { expectRefused } from './refusal.ts';

const deletion = group('delete');
const afterReopening = reopening('delete');

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
