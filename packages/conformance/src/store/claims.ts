import type { RunEvent } from '@cobbler/agent';
import { defineTool, Executor, isStored } from '@cobbler/agent';
import {
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  scriptedAgent,
  wholeRun,
  write,
} from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('claim');
const afterReopening = reopening('claim');

/** Invalid ids. */
const hostileIds = [
  '',
  ' ',
  '.',
  '..',
  '../up',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'a\0b',
  'a\nb',
  'a b',
  "x'; DROP TABLE sessions; --",
  'ümlaut',
  '🙂',
  '-flag',
  '%2e%2e',
  '<b>',
  'x'.repeat(129),
];

export const claimCases: readonly StoreCase[] = [
  the('each claim returns a larger epoch, whatever the session', async ({ store }) => {
    const epochs: number[] = [];
    for (const id of ['one', 'two', 'one', 'one', 'two']) epochs.push(await store.claim(id));
    expect(
      epochs.every((epoch, index) => index === 0 || epoch > (epochs[index - 1] ?? 0)),
      `increasing epochs, found ${epochs.join(', ')}`,
    );
  }),
  the('an older writer is fenced off, and the newer one is not', async ({ store }) => {
    const older = await write(store, 'one', [said('a')]);
    const newer = await store.claim('one');
    const next = eventsOf('one', [said('b')], 1);
    await expectRefused(() => store.append('one', next, { epoch: older }), 'fenced', 'the older writer');
    await expectRefused(
      () => store.append('one', [], { epoch: older }),
      'fenced',
      'an older writer that appends nothing',
    );
    await store.append('one', next, { epoch: newer });
    expectEqual((await store.read('one')).length, 2, 'the number of events');
  }),
  the(
    'a run whose session is taken over emits only stored events and an unstored end [P13]',
    async ({ store }) => {
      const [answer, taken] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
      const tool = defineTool({
        name: 'wait',
        description: 'Waits.',
        parameters: { type: 'object' },
        execute: () => {
          taken.resolve();
          return answer.promise;
        },
      });
      const first = new Executor({
        agent: scriptedAgent([{ calls: [{ name: 'wait', arguments: {} }] }, 'First.']),
        tools: [tool],
        store,
      });
      const shown: RunEvent[] = [];
      const run = first.run('Go.', { sessionId: 'one', onEvent: (event) => void shown.push(event) });
      // If the store cannot write, the run ends before its tool starts.
      const reached = await Promise.race([
        taken.promise.then(() => 'tool'),
        run.then(({ status }) => status),
      ]);
      expectEqual(reached, 'tool', 'the progress of the first run');
      const second = new Executor({ agent: scriptedAgent(['Second.']), store });
      expectEqual(
        (await second.run('And?', { sessionId: 'one' })).text,
        'Second.',
        'the text of the other run',
      );
      answer.resolve('Too late.');
      const { status, error } = await run;
      expectEqual([status, error?.code], ['failed', 'fenced'], 'the outcome of the first run');
      const stored = await store.read('one');
      const placed = shown.filter(isStored);
      expectEqual(placed, stored.slice(0, placed.length), 'the stored events that the first run emitted');
      expectEqual(
        stored.map(({ seq }) => seq),
        stored.map((_, index) => index + 1),
        'the sequence numbers in the log',
      );
      const last = shown.at(-1);
      expectEqual(
        [last?.type, last !== undefined && 'seq' in last],
        ['finished', false],
        'the last event of the first run',
      );
    },
  ),
  the('a writer without a claim, or with a different epoch, cannot append', async ({ store }) => {
    const other = await store.claim('other');
    const events = eventsOf('one', [said('a')]);
    for (const epoch of [0, 1, other, other + 1, -1, Number.NaN])
      await expectRefused(() => store.append('one', events, { epoch }), 'fenced', `epoch ${epoch}`);
    expectEqual(await store.sessions(), [], 'the sessions');
  }),
  the('a claim alone creates no session', async ({ store }) => {
    await store.claim('one');
    expectEqual(await store.sessions(), [], 'the sessions');
    expectEqual(await store.info('one'), undefined, 'the information about the session');
    expectEqual((await store.list()).sessions, [], 'the list');
    expectEqual(await store.rename('one', 'Title'), false, 'whether the session was renamed');
  }),
  the('a session deleted and created again is a new one: its old writer is fenced off', async ({ store }) => {
    const old = await write(store, 'one', wholeRun());
    await store.delete('one');
    const events = eventsOf('one', [said('new')]);
    await expectRefused(
      () => store.append('one', events, { epoch: old }),
      'fenced',
      'the writer of the deleted session',
    );
    const epoch = await store.claim('one');
    await expectRefused(() => store.append('one', events, { epoch: old }), 'fenced', 'the old writer');
    await store.append('one', events, { epoch });
    expectEqual(await store.read('one'), events, 'the events');
  }),
  the('a session released in the middle of a run can be claimed by another writer', async ({ store }) => {
    const epoch = await store.claim('one');
    await store.append('one', eventsOf('one', [said('a')]), { epoch, release: true });
    await write(store, 'one', [said('b'), ended()]);
    expectEqual((await store.read('one')).length, 3, 'the number of events');
  }),
  the('an invalid id is rejected by a claim, and nothing exists under it', async ({ store }) => {
    for (const id of hostileIds) {
      const what = JSON.stringify(id.slice(0, 40));
      await expectRefused(() => store.claim(id), 'session_id', `a claim of ${what}`);
      await expectRefused(
        () => store.append(id, eventsOf(id, [said('a')]), { epoch: 1 }),
        'fenced',
        `an append to ${what}`,
      );
      expectEqual(await store.read(id), [], `the events of ${what}`);
      expectEqual(await store.info(id), undefined, `the information about ${what}`);
      expectEqual(await store.rename(id, 'x'), false, `whether ${what} was renamed`);
      expectEqual(await store.delete(id), false, `whether ${what} was deleted`);
    }
    expectEqual(await store.sessions(), [], 'the sessions');
  }),
  the('ids that differ in one allowed character are different sessions', async ({ store }) => {
    const ids = ['a', 'A', '0', 'a.b', 'a_b', 'a:b', 'a-b', 'a@b', 'a-1', 'a-2', 'tg:-1001', 'x'.repeat(128)];
    for (const id of ids) await write(store, id, [said(id)]);
    expectEqual(await store.sessions(), ids, 'the sessions');
    for (const id of ids) expectEqual((await store.info(id))?.title, titled(id), `the title of ${id}`);
  }),
  afterReopening('epochs keep growing after a reopen, and earlier ones are rejected', async (setup) => {
    const before = await write(setup.store, 'one', [said('a')]);
    await setup.reopen();
    const next = eventsOf('one', [said('b')], 1);
    const after = await setup.store.claim('one');
    expect(after > before, `an epoch larger than ${before}, found ${after}`);
    await expectRefused(
      () => setup.store.append('one', next, { epoch: before }),
      'fenced',
      'the earlier writer',
    );
    await setup.store.append('one', next, { epoch: after });
  }),
];

function titled(id: string): string {
  return id.length > 80 ? `${id.slice(0, 79)}…` : id;
}
