import { readdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { forkSession } from '../../../src/store/fork-session.ts';
import { importSession } from '../../../src/store/session-file.ts';
import { answered, ended, eventsOf, said, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { locks, newFile, open, refusal } from './rig.ts';

test('any process can claim a session whose run has ended', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  const old = await write(first, 'one', wholeRun('First.'));
  await write(second, 'one', wholeRun('Second.'));
  const { length } = await second.read('one');
  const late = eventsOf('one', [said('Late.')], length);
  expect((await refusal(() => first.append('one', late, { epoch: old }))).code).toBe('fenced');
  await write(first, 'one', wholeRun('Third.'));
  expect((await first.read('one')).length).toBe(3 * wholeRun().length);
});

test('any process can claim a session that was imported or forked in the middle of a run', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  const lines = eventsOf('one', [said('Go.'), answered('On it.')]).map((event) => JSON.stringify(event));
  await importSession(first, lines, 'one');
  await forkSession(first, { from: 'one', to: 'two' }, { now: () => 0 });
  expect((await second.info('one'))?.status).toBe('interrupted');
  for (const id of ['one', 'two']) await write(second, id, [said('On.'), ended()]);
});

test('closing a store releases its sessions and removes its lock and log files', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  await write(first, 'one', [said('Go.')]);
  expect((await refusal(() => second.claim('one'))).code).toBe('in_use');
  await first.close();
  await write(second, 'one', [said('On.')]);
  await second.close();
  expect(readdirSync(dirname(file)).sort()).toEqual(['sessions.db', 'sessions.db-made']);
});

test('a second claim in the same process fences the older run [P13]', async () => {
  const store = open(newFile());
  const old = await write(store, 'one', [said('a')]);
  await store.claim('one');
  const next = eventsOf('one', [said('b')], 1);
  expect((await refusal(() => store.append('one', next, { epoch: old }))).code).toBe('fenced');
});

test('a live process that was taken for dead can no longer write', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  const old = await write(first, 'one', [said('a')]);
  // Simulates the loss of its lock.
  for (const lock of locks(file)) renameSync(`${dirname(file)}/${lock}`, `${dirname(file)}/gone`);
  const epoch = await second.claim('one');
  const next = eventsOf('one', [said('b')], 1);
  expect((await refusal(() => first.append('one', next, { epoch: old }))).code).toBe('fenced');
  await second.append('one', next, { epoch });
  expect(await first.read('one')).toHaveLength(2);
});
