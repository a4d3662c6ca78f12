import { readdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { forkSession } from '../../../src/store/fork-session.ts';
import { importSession } from '../../../src/store/session-file.ts';
import { answered, ended, eventsOf, said, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { newFile, open, refusal, storeChild } from './rig.ts';

/** Returns the lock files of processes that use a store. */
function locks(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-owner-'));
}

test('a claim fails while another process runs the session, and names that process', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  const store = open(file);
  const { code, message } = await refusal(() => store.claim('one'));
  expect(code).toBe('in_use');
  expect(message).toContain(`in use by process ${child.process.pid} on `);
  expect(message).toContain('end that process, and try again');
  expect((await refusal(() => store.delete('one'))).code).toBe('in_use');
  expect((await store.info('one'))?.status).toBe('running');
  expect(await store.prune({ keepLast: 0 })).toEqual([]);
  await write(store, 'two', wholeRun());
});

test('a session of a killed process can be claimed at once, with all committed events [P13]', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  const store = open(file);
  await child.kill();
  expect((await store.info('one'))?.status).toBe('interrupted');
  expect((await store.list()).sessions.map(({ status }) => status)).toEqual(['interrupted']);
  expect(locks(file)).toHaveLength(1);
  await write(store, 'one', [said('Mine now.'), ended()]);
  expect((await store.read('one')).map(({ type }) => type)).toEqual(['user', 'user', 'finished']);
  // The lock of the dead process is gone; only the lock of this process is left.
  expect(locks(file)).toHaveLength(1);
});

test('a claim removes the lock of a process that crashed while the store was open', async () => {
  const file = newFile();
  const store = open(file);
  await store.claim('other');
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  await child.kill();
  expect(locks(file)).toHaveLength(2);
  await store.claim('one');
  expect(locks(file)).toHaveLength(1);
  const db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare('SELECT lock FROM owners').all()).toEqual([{ lock: locks(file)[0] }]);
  db.close();
});

test('a suspended process keeps its session', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  child.process.kill('SIGSTOP');
  const store = open(file);
  expect((await refusal(() => store.claim('one'))).code).toBe('in_use');
  await child.kill();
  expect(await store.claim('one')).toBeGreaterThan(0);
});

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

test('opening a store waits for a process that is writing', async () => {
  const file = newFile();
  const child = storeChild('write elsewhere', file);
  expect(await child.line()).toBe('writing');
  expect(await open(file).sessions()).toEqual([]);
});
