import { expect, test, vi } from 'vitest';
import { fold } from '../../../src/events/fold.ts';
import type { State } from '../../../src/events/state.ts';
import { emptyState, foldVersion } from '../../../src/events/state.ts';
import { openSession } from '../../../src/store/open-session.ts';
import { eventsOf, wholeRun } from '../../../src/testing/stored-events.ts';
import { edit, newFile, open } from './rig.ts';

/** Creates a closed store with a session of 603 events and a snapshot of it. */
async function longSession(): Promise<{ file: string; state: State }> {
  const file = newFile();
  const store = open(file);
  const epoch = await store.claim('one');
  const state = emptyState();
  const events = eventsOf('one', wholeRun('Go.', 200));
  for (let at = 0; at < events.length; at += 100) {
    const batch = events.slice(at, at + 100);
    await store.append('one', batch, { epoch });
    for (const event of batch) fold(state, event);
    store.keepSnapshot?.('one', state, { epoch });
  }
  await store.close();
  return { file, state };
}

test('a store returns the last snapshot of a session, so that only later events must be folded', async () => {
  const { file } = await longSession();
  const store = open(file);
  const state = await store.snapshot?.('one');
  expect(state?.seq).toBe(600);
  expect(state?.messages).toHaveLength(400);
});

test('a session is opened from its snapshot: only the events after it are read and folded', async () => {
  const { file, state } = await longSession();
  // A session that reads the first event is rejected as damaged.
  edit(file, "UPDATE events SET json = 'x' WHERE seq = 1");
  const store = open(file);
  const read = vi.spyOn(store, 'read');
  expect(await openSession(store, 'one')).toEqual(state);
  expect(state.seq).toBe(603);
  expect(read.mock.calls.map(([, after]) => after)).toEqual([600]);
});

test.each([
  ['of another fold version', `UPDATE snapshots SET fold = ${foldVersion + 1}`],
  ['whose text is damaged', `UPDATE snapshots SET state = substr(state, 1, 50)`],
  ['whose text is not a state', `UPDATE snapshots SET state = '[1]'`],
  ['with another event number', 'UPDATE snapshots SET seq = 599'],
  ['without its messages', 'DELETE FROM snapshot_messages'],
  [
    'with only some of its messages',
    'DELETE FROM snapshot_messages WHERE first = (SELECT max(first) FROM snapshot_messages)',
  ],
  ['with a letter changed', `UPDATE snapshots SET state = replace(state, 'turn', 'tern')`],
  [
    'with a letter of its messages changed',
    `UPDATE snapshot_messages SET messages = replace(messages, 'Turn 1.', 'Turn I.')`,
  ],
  ['with damaged messages', `UPDATE snapshot_messages SET messages = 'x' WHERE first = 0`],
])('a snapshot %s is not used, and a new one is stored', async (_what, sql) => {
  const { file, state } = await longSession();
  edit(file, sql);
  const store = open(file);
  expect(await store.snapshot?.('one')).toBe(undefined);
  const epoch = await store.claim('one');
  const folded = emptyState();
  for (const event of await store.read('one')) fold(folded, event);
  expect(folded).toEqual(state);
  store.keepSnapshot?.('one', folded, { epoch });
  // The snapshot is written with the next transaction.
  await store.claim('other');
  expect(await store.snapshot?.('one')).toEqual(state);
});

test('a new snapshot writes only new messages', async () => {
  const { file } = await longSession();
  const store = open(file);
  const state = await store.snapshot?.('one');
  if (state === undefined) throw new Error('There is no snapshot.');
  const epoch = await store.claim('one');
  // If these messages were written again, this change would be lost.
  edit(
    file,
    `UPDATE snapshot_messages SET messages = replace(messages, 'Turn 1.', 'Turn I.'), sum = NULL WHERE first = 0`,
  );
  const rest = await store.read('one', state.seq);
  const events = [...rest, ...eventsOf('one', wholeRun('On.', 100, 201), 603, 'run-2')];
  await store.append('one', events.slice(rest.length), { epoch });
  for (const event of events) fold(state, event);
  store.keepSnapshot?.('one', state, { epoch });
  await store.claim('other');
  const next = await store.snapshot?.('one');
  expect([next?.seq, next?.messages.length]).toEqual([state.seq, state.messages.length]);
  expect(JSON.stringify(next?.messages)).toContain('Turn I.');
});
