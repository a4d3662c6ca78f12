import { copyFileSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { migrate, schemaVersion } from '../../../src/node/sqlite/database-file.ts';
import { scalar } from '../../../src/node/sqlite/engine.ts';
import { migrations, sessionFile } from '../../../src/node/sqlite/schema.ts';
import { costGroups } from '../../../src/store/costs.ts';
import { readCosts } from '../../../src/store/read-costs.ts';
import { wholeRun, write } from '../../../src/testing/stored-events.ts';
import { newFile, open, refusal } from './rig.ts';

const fixtures = new URL('../../fixtures/store/', import.meta.url);

/** Schema versions that have a stored database file. These files are never regenerated. */
const versions = readdirSync(fixtures)
  .map((name) => Number.parseInt(name, 10))
  .sort((one, other) => one - other);

function copyOf(version: number): string {
  const file = newFile();
  copyFileSync(new URL(`${version}.db`, fixtures), file);
  return file;
}

function database(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  return db;
}

test('every schema version has a stored database file', () => {
  expect(versions).toEqual(migrations.map((_, index) => index + 1));
});

test.each(versions)(
  'a store of version %i is migrated to the latest version with all its data',
  async (version) => {
    const file = copyOf(version);
    const store = open(file);
    const { sessions } = await store.list();
    expect(sessions.map(({ id, title, status, events }) => [id, title, status, events])).toEqual([
      ['two', 'Long.', 'interrupted', 13],
      ['one', 'A title', 'complete', 12],
    ]);
    expect(sessions.map(({ usd, parent }) => [usd, parent])).toEqual([
      [3, { sessionId: 'one', seq: 4 }],
      [undefined, undefined],
    ]);
    expect(sessions[1]?.shares).toEqual(version < 5 ? undefined : [{ user: 'ann', may: 'read' }]);
    expect((await store.read('one')).map(({ seq, type }) => `${seq} ${type}`)).toEqual(
      wholeRun('', 3).map(({ type }, index) => `${index + 1} ${type}`),
    );
    await write(store, 'one', wholeRun('More.'));
    await store.close();
    expect(schemaVersion(database(file))).toBe(migrations.length);
  },
);

test.each(versions)(
  'a store of version %i answers for the costs of sessions that it already has',
  async (version) => {
    const store = open(copyOf(version));
    for (const by of costGroups) {
      const rows = await store.costs?.({ by });
      const { sessions, read } = store;
      const folded = await readCosts(
        { ...store, sessions: sessions.bind(store), read: read.bind(store) },
        { by },
      );
      expect(rows).toEqual(folded);
      expect(rows?.length).toBeGreaterThan(0);
    }
    const [two, one] = (await store.costs?.({ by: 'session' })) ?? [];
    expect([two?.key, two?.usd, two?.unpriced]).toEqual(['two', 3, 0]);
    expect([one?.key, one?.unpriced]).toEqual(['one', 4]);
  },
);

test('shares leave the checksum of the row as older processes compute it, and damage to them is noticed', async () => {
  const file = newFile();
  const store = open(file);
  await write(store, 'one', wholeRun());
  const db = database(file);
  const row = () => db.prepare('SELECT sum, shares FROM sessions').get();
  const before = row()?.['sum'];
  await store.share('one', 'ann', 'read');
  expect(row()?.['sum']).toBe(before);
  db.exec("UPDATE sessions SET shares = replace(shares, 'ann', 'eve')");
  expect((await store.info('one'))?.shares).toBeUndefined();
  await expect(store.share('one', 'bob', 'read')).rejects.toMatchObject({ code: 'store_damaged' });
});

test('later versions are applied in order, each once', async () => {
  const file = copyOf(1);
  const db = database(file);
  const next = ['ALTER TABLE sessions ADD COLUMN colour TEXT', "UPDATE sessions SET colour = id || '!'"];
  migrate(db, file, [...migrations, ...next], sessionFile);
  expect(schemaVersion(db)).toBe(migrations.length + 2);
  expect(db.prepare('SELECT colour FROM sessions ORDER BY key').all()).toEqual([
    { colour: 'one!' },
    { colour: 'two!' },
  ]);
  migrate(db, file, [...migrations, ...next], sessionFile);
  expect((await refusal(() => open(file))).code).toBe('store_newer');
});

test('a failed migration changes nothing', async () => {
  const file = copyOf(1);
  const db = database(file);
  const steps = [
    ...migrations,
    'DELETE FROM events; ALTER TABLE sessions ADD COLUMN colour TEXT',
    'SELECT * FROM nowhere',
  ];
  expect(() => migrate(db, file, steps, sessionFile)).toThrow('no such table: nowhere');
  expect([schemaVersion(db), db.isTransaction]).toEqual([1, false]);
  expect(scalar(db, 'SELECT count(*) FROM events')).toBe(25);
  expect(await open(file).read('one')).toHaveLength(12);
});

test('every table is strict', () => {
  const db = database(copyOf(1));
  const tables = db.prepare(
    "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  expect(tables.all().map(({ name, strict }) => [name, strict])).toEqual(
    expect.arrayContaining([
      ['events', 1],
      ['sessions', 1],
    ]),
  );
  expect(tables.all().filter(({ strict }) => strict !== 1)).toEqual([]);
});
