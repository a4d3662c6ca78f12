import { ended, eventsOf, expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';

const the = group('probe');
const afterReopening = reopening('probe');

export const probeCases: readonly StoreCase[] = [
  the('a probe leaves no data', async ({ store }) => {
    for (let times = 0; times < 3; times += 1) await store.probe();
    expectEqual(await store.sessions(), [], 'the sessions');
    expectEqual((await store.list()).sessions, [], 'the list');
    await write(store, 'one', wholeRun());
    await store.probe();
    expectEqual(await store.sessions(), ['one'], 'the sessions after a run');
  }),
  the('a probe does not affect a run', async ({ store }) => {
    const events = eventsOf('one', [said('a'), said('b'), said('c'), ended()]);
    const epoch = await store.claim('one');
    for (const event of events)
      await Promise.all([store.probe(), store.append('one', [event], { epoch }), store.probe()]);
    expectEqual(await store.read('one'), events, 'the events');
  }),
  afterReopening('a probe leaves no data after a reopen', async (setup) => {
    await write(setup.store, 'one', wholeRun());
    const before = await setup.store.read('one');
    await setup.store.probe();
    await setup.reopen();
    expectEqual(await setup.store.sessions(), ['one'], 'the sessions');
    expectEqual(await setup.store.read('one'), before, 'the events');
    await setup.store.probe();
  }),
];
