import { expect, test } from 'vitest';
import { fold } from '../../../src/events/fold.ts';
import { foldVersion } from '../../../src/events/snapshot.ts';
import type { State } from '../../../src/events/state.ts';
import { emptyState } from '../../../src/events/state.ts';
import { eventsOf, wholeRun } from '../../../src/testing/stored-events.ts';
import { edit, newFile, open } from './rig.ts';

/** A closed store with a session of 603 events and a snapshot of it. */
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

test('a session is opened from its snapshot, and only what came later is folded', async () => {
  const { file } = await longSession();
  const store = open(file);
  const state = await store.snapshot?.('one');
  expect(state?.seq).toBe(600);
  expect(state?.messages).toHaveLength(400);
});

test.each([
  ['of another version of the fold', `UPDATE snapshots SET fold = ${foldVersion + 1}`],
  ['whose text is damaged', `UPDATE snapshots SET state = substr(state, 1, 50)`],
  ['whose text is something else', `UPDATE snapshots SET state = '[1]'`],
  ['that names another place', 'UPDATE snapshots SET seq = 599'],
  ['without its messages', 'DELETE FROM snapshot_messages'],
  [
    'with some of its messages',
    'DELETE FROM snapshot_messages WHERE first = (SELECT max(first) FROM snapshot_messages)',
  ],
  ['with a letter changed', `UPDATE snapshots SET state = replace(state, 'turn', 'tern')`],
  [
    'with a letter of its messages changed',
    `UPDATE snapshot_messages SET messages = replace(messages, 'Turn 1.', 'Turn I.')`,
  ],
  ['with damaged messages', `UPDATE snapshot_messages SET messages = 'x' WHERE first = 0`],
])('a snapshot %s is not used, and a new one is kept instead', async (_what, sql) => {
  const { file, state } = await longSession();
  edit(file, sql);
  const store = open(file);
  expect(await store.snapshot?.('one')).toBe(undefined);
  const epoch = await store.claim('one');
  const folded = emptyState();
  for (const event of await store.read('one')) fold(folded, event);
  expect(folded).toEqual(state);
  store.keepSnapshot?.('one', folded, { epoch });
  // Written with what comes next.
  await store.claim('other');
  expect(await store.snapshot?.('one')).toEqual(state);
});

test('only messages that are new are written', async () => {
  const { file } = await longSession();
  const store = open(file);
  const state = await store.snapshot?.('one');
  if (state === undefined) throw new Error('There is no snapshot.');
  const epoch = await store.claim('one');
  // Were it written again, what it says now would be.
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
