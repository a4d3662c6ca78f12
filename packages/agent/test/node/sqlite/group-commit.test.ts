import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { scalar } from '../../../src/node/sqlite/engine.ts';
import { GroupCommit } from '../../../src/node/sqlite/group-commit.ts';
import type { WriteMoment } from '../../../src/node/sqlite/write-moment.ts';
import { eventsOf, said } from '../../../src/testing/stored-events.ts';
import { AgentError } from '../../../src/values/errors.ts';
import { newFile, open } from './rig.ts';

function connect(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 0 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE IF NOT EXISTS kept (value)');
  onTestFinished(() => db.close());
  return db;
}

function rig({ busyMs = 4000, fails = (_moment: WriteMoment): boolean => false } = {}) {
  const file = newFile();
  const db = connect(file);
  const moments: string[] = [];
  const commit = new GroupCommit({
    db,
    file,
    busyMs,
    onWrite(moment) {
      moments.push(moment);
      if (fails(moment)) throw new Error('the disk is gone');
    },
    onRollback: () => void moments.push('rollback'),
    onForeignWrite: () => void moments.push('foreign'),
  });
  const insert = db.prepare('INSERT INTO kept VALUES (?)');
  return {
    file,
    db,
    commit,
    moments,
    keep: (value: string) => () => {
      insert.run(value);
      return value;
    },
    kept: () =>
      db
        .prepare('SELECT value FROM kept ORDER BY rowid')
        .all()
        .map(({ value }) => value),
  };
}

/** Yields to the event loop until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('jobs added in one turn of the event loop share a transaction', async () => {
  const { commit, keep, kept, moments } = rig();
  const values = Array.from({ length: 64 }, (_, index) => `value ${index}`);
  expect(await Promise.all(values.map((value) => commit.add(keep(value))))).toEqual(values);
  expect(kept()).toEqual(values);
  expect(moments).toEqual(['begin', 'foreign', 'commit', 'done']);
  await commit.add(keep('later'));
  expect(moments.slice(4)).toEqual(['begin', 'commit', 'done']);
});

test('an immediate job runs after the pending jobs [P13]', async () => {
  const { commit, keep, kept } = rig();
  const waiting = commit.add(keep('first'));
  await commit.now(keep('second'));
  await waiting;
  expect(kept()).toEqual(['first', 'second']);
  expect(commit.now(keep('third'))).toBe(undefined);
  expect(kept()).toEqual(['first', 'second', 'third']);
});

test('a failed immediate job is rolled back, and the next one succeeds [P13]', async () => {
  const { commit, keep, kept } = rig();
  const half = () => {
    keep('half')();
    throw new Error('in the middle');
  };
  expect(() => commit.now(half)).toThrow('in the middle');
  expect(commit.now(keep('whole'))).toBe(undefined);
  expect(kept()).toEqual(['whole']);
});

test('64 appends in one turn of the event loop share a transaction', async () => {
  const moments: string[] = [];
  const store = open(newFile(), { onWrite: (moment) => void moments.push(moment) });
  const ids = Array.from({ length: 64 }, (_, index) => `session-${index}`);
  const epochs = await Promise.all(ids.map((id) => store.claim(id)));
  moments.length = 0;
  await Promise.all(
    ids.map((id, index) => store.append(id, eventsOf(id, [said(id)]), { epoch: epochs[index] ?? 0 })),
  );
  expect(moments).toEqual(['begin', 'commit', 'done']);
});

test('no caller gets a result before the transaction is committed [P13]', async () => {
  const { commit, keep, moments } = rig();
  const told = commit.add(keep('value')).then(() => moments.push('told'));
  await told;
  expect(moments).toEqual(['begin', 'foreign', 'commit', 'done', 'told']);
});

test('one durable job makes its transaction durable, but not the next one [P9]', async () => {
  const { commit, db } = rig();
  const level = () => scalar(db, 'PRAGMA synchronous');
  const [normal, full] = [1, 2];
  expect(await commit.add(level)).toBe(normal);
  expect(await Promise.all([commit.add(level), commit.add(level, true), commit.add(level)])).toEqual([
    full,
    full,
    full,
  ]);
  expect(await commit.add(level, true)).toBe(full);
  expect(await commit.add(level)).toBe(normal);
});

test('a durable append is committed with synchronous = FULL, and the next one with NORMAL [P9]', async () => {
  const store = open(newFile());
  const epoch = await store.claim('one');
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => exec.mockRestore());
  const events = eventsOf('one', [said('a'), said('b'), said('c')]);
  const levels = () => exec.mock.calls.splice(0).map(([sql]) => sql);
  await store.append('one', events.slice(0, 1), { epoch });
  expect(levels()).toEqual([]);
  await store.append('one', events.slice(1, 2), { epoch, durable: true });
  expect(levels()).toEqual(['PRAGMA synchronous = FULL']);
  await store.append('one', events.slice(2), { epoch });
  expect(levels()).toEqual(['PRAGMA synchronous = NORMAL']);
});

test('a rejected job does not affect the others', async () => {
  const { commit, keep, kept, moments } = rig();
  const refuse = () => {
    throw new AgentError({ kind: 'invalid', code: 'fenced', message: 'No.' });
  };
  const outcomes = await Promise.allSettled([
    commit.add(keep('a')),
    commit.add(refuse),
    commit.add(keep('b')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(kept()).toEqual(['a', 'b']);
  expect(moments).not.toContain('rollback');
});

test('a job that fails halfway is rolled back alone: the others are written once', async () => {
  const { commit, keep, kept, moments } = rig();
  const breaks = () => {
    keep('half')();
    throw new Error('out of memory');
  };
  const outcomes = await Promise.allSettled([
    commit.add(keep('a')),
    commit.add(breaks),
    commit.add(keep('b')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(kept()).toEqual(['a', 'b']);
  expect(moments.filter((moment) => moment === 'rollback')).toHaveLength(2);
});

test('all jobs fail if the commit fails, and the next one succeeds [P13]', async () => {
  let broken = true;
  const { commit, keep, kept } = rig({ fails: (moment) => broken && moment === 'commit' });
  const outcomes = await Promise.allSettled([commit.add(keep('a')), commit.add(keep('b'))]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(kept()).toEqual([]);
  broken = false;
  await commit.add(keep('c'));
  expect(kept()).toEqual(['c']);
});

test('waits for another process that is writing, without blocking the event loop', async () => {
  const { commit, keep, kept, moments, file } = rig();
  const other = connect(file);
  other.exec("BEGIN IMMEDIATE; INSERT INTO kept VALUES ('theirs')");
  let settled = false;
  const first = commit.add(keep('first')).finally(() => {
    settled = true;
  });
  await until(() => moments.filter((moment) => moment === 'begin').length >= 4);
  const second = commit.add(keep('second'));
  await until(() => moments.filter((moment) => moment === 'begin').length >= 5);
  expect(settled).toBe(false);
  other.exec('COMMIT');
  await Promise.all([first, second]);
  expect(kept()).toEqual(['theirs', 'first', 'second']);
  expect(moments.slice(-3)).toEqual(['foreign', 'commit', 'done']);
});

test('stops waiting after busyMs for another process that keeps writing', async () => {
  const { commit, keep, kept, file } = rig({ busyMs: 40 });
  const other = connect(file);
  other.exec('BEGIN IMMEDIATE');
  const outcomes = await Promise.allSettled([commit.add(keep('a')), commit.add(keep('b'))]);
  for (const outcome of outcomes)
    expect(outcome.status === 'rejected' && [outcome.reason.code, outcome.reason.retryable]).toEqual([
      'store_busy',
      true,
    ]);
  other.exec('ROLLBACK');
  await commit.add(keep('c'));
  expect(kept()).toEqual(['c']);
});
