import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ended, said, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { locks, newFile, open, refusal, storeChild } from './rig.ts';

test('several processes can create one store at the same time', async () => {
  const file = newFile();
  const children = Array.from({ length: 5 }, (_, index) => storeChild('write', file, `session-${index}`));
  expect(await Promise.all(children.map((child) => child.line()))).toEqual(children.map(() => 'closed'));
  const store = open(file);
  expect(await store.sessions()).toHaveLength(5);
});

test('only one of several processes can claim a session', async () => {
  const file = newFile();
  const children = Array.from({ length: 4 }, () => storeChild('hold', file, 'one'));
  const lines = await Promise.all(children.map((child) => child.line()));
  expect(lines.filter((line) => line === 'held')).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('in_use: Session one is in use by process'))).toHaveLength(3);
  expect(existsSync(file)).toBe(true);
  expect(await open(file).read('one')).toHaveLength(1);
});

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

test('opening a store waits for a process that is writing', async () => {
  const file = newFile();
  const child = storeChild('write elsewhere', file);
  expect(await child.line()).toBe('writing');
  expect(await open(file).sessions()).toEqual([]);
});
