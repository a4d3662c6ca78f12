import { existsSync, readdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { forkSession } from '../../../src/store/fork-session.ts';
import { importSession } from '../../../src/store/session-file.ts';
import { answered, ended, eventsOf, said, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { newFile, open, refusal, storeChild } from './rig.ts';

/** The lock files of processes that use a store. */
function locks(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-owner-'));
}

test('a session whose run is under way in another process is refused, and it is told whose it is', async () => {
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

test('a session whose process was killed is taken over at once, with all that was committed [P13]', async () => {
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
  // What the dead process left behind is gone, and only this one's lock is there.
  expect(locks(file)).toHaveLength(1);
});

test('a process that dies later leaves nothing behind either, once its session is taken over', async () => {
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

test('a process that stands still is alive: its session is not taken from it', async () => {
  const file = newFile();
  const child = storeChild('hold', file, 'one');
  expect(await child.line()).toBe('held');
  child.process.kill('SIGSTOP');
  const store = open(file);
  expect((await refusal(() => store.claim('one'))).code).toBe('in_use');
  await child.kill();
  expect(await store.claim('one')).toBeGreaterThan(0);
});

test('a session whose run has ended is free for every process', async () => {
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

test('a session that was imported or forked in the middle of a run is free for every process', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  const lines = eventsOf('one', [said('Go.'), answered('On it.')]).map((event) => JSON.stringify(event));
  await importSession(first, lines, 'one');
  await forkSession(first, { from: 'one', to: 'two' }, { now: () => 0 });
  expect((await second.info('one'))?.status).toBe('interrupted');
  for (const id of ['one', 'two']) await write(second, id, [said('On.'), ended()]);
});

test('a store that is closed gives back what it holds, and leaves nothing beside the file', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  await write(first, 'one', [said('Go.')]);
  expect((await refusal(() => second.claim('one'))).code).toBe('in_use');
  await first.close();
  await write(second, 'one', [said('On.')]);
  await second.close();
  expect(readdirSync(dirname(file)).sort()).toEqual(['sessions.db', 'sessions.db-made']);
});

test('a session is taken over within a process: its older run is fenced [P13]', async () => {
  const store = open(newFile());
  const old = await write(store, 'one', [said('a')]);
  await store.claim('one');
  const next = eventsOf('one', [said('b')], 1);
  expect((await refusal(() => store.append('one', next, { epoch: old }))).code).toBe('fenced');
});

test('a process that was thought dead and is not cannot write any more', async () => {
  const file = newFile();
  const [first, second] = [open(file), open(file)];
  const old = await write(first, 'one', [said('a')]);
  // As if its lock had been lost.
  for (const lock of locks(file)) renameSync(`${dirname(file)}/${lock}`, `${dirname(file)}/gone`);
  const epoch = await second.claim('one');
  const next = eventsOf('one', [said('b')], 1);
  expect((await refusal(() => first.append('one', next, { epoch: old }))).code).toBe('fenced');
  await second.append('one', next, { epoch });
  expect(await first.read('one')).toHaveLength(2);
});

test('many processes make one new store at the same time', async () => {
  const file = newFile();
  const children = Array.from({ length: 5 }, (_, index) => storeChild('write', file, `session-${index}`));
  expect(await Promise.all(children.map((child) => child.line()))).toEqual(children.map(() => 'closed'));
  const store = open(file);
  expect(await store.sessions()).toHaveLength(5);
});

test('a process that is writing while the store is opened is waited for', async () => {
  const file = newFile();
  const child = storeChild('write elsewhere', file);
  expect(await child.line()).toBe('writing');
  expect(await open(file).sessions()).toEqual([]);
});

test('many processes want one session: one of them has it', async () => {
  const file = newFile();
  const children = Array.from({ length: 4 }, () => storeChild('hold', file, 'one'));
  const lines = await Promise.all(children.map((child) => child.line()));
  expect(lines.filter((line) => line === 'held')).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('in_use: Session one is in use by process'))).toHaveLength(3);
  expect(existsSync(file)).toBe(true);
  expect(await open(file).read('one')).toHaveLength(1);
});
