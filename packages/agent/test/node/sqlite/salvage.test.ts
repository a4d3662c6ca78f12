import { copyFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { repairLog } from '../../../src/events/repair-log.ts';
import { salvageStore, verifyStore } from '../../../src/node/index.ts';
import { eventsOf, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { edit, newFile, open, refusal, storeChild } from './rig.ts';

describe('reading an event [P13]', () => {
  /** Creates a closed store with two sessions of 6 events. */
  async function twoSessions(): Promise<string> {
    const file = newFile();
    const store = open(file);
    for (const id of ['one', 'two']) await write(store, id, wholeRun('Hello.', 1));
    await store.close();
    return file;
  }

  test('fails if it was changed; the error names session and event and says what to do', async () => {
    const file = await twoSessions();
    edit(file, `UPDATE events SET json = replace(json, 'Hello.', 'Hallo.') WHERE segment = 1 AND seq = 1`);
    const store = open(file);
    expect(await refusal(() => store.read('one'))).toEqual({
      code: 'store_damaged',
      message: `Event 1 of session one is damaged or missing in ${file}. Run cobbler store salvage ${file} to copy the intact sessions into a new file, or restore a backup.`,
    });
    expect(await store.read('two')).toHaveLength(6);
    expect(await store.read('one', 1)).toHaveLength(5);
    expect(verifyStore(file)).toMatchObject({
      ok: false,
      sessions: [
        { id: 'one', events: 0, problem: expect.stringContaining('Event 1 of session one') },
        { id: 'two', events: 6 },
      ],
    });
  });

  test('fails if it belongs to another session or position', async () => {
    const file = await twoSessions();
    edit(
      file,
      `UPDATE events SET (json, sum) = (SELECT json, sum FROM events e WHERE e.segment = 2 AND e.seq = 3)
       WHERE segment = 1 AND seq = 3`,
    );
    expect((await refusal(() => open(file).read('one'))).message).toContain('Event 3 of session one');
    const other = await twoSessions();
    edit(
      other,
      `UPDATE events SET (json, sum) = (SELECT json, sum FROM events e WHERE e.segment = 1 AND e.seq = 3)
       WHERE segment = 1 AND seq = 4`,
    );
    expect((await refusal(() => open(other).read('one'))).message).toContain('Event 4 of session one');
  });

  test('fails if it is lost and was the last of its session', async () => {
    const file = await twoSessions();
    edit(file, 'DELETE FROM events WHERE segment = 1 AND seq > 4');
    const store = open(file);
    expect((await refusal(() => store.read('one'))).message).toContain('Event 5 of session one');
    expect(await store.read('one', 0, 4)).toHaveLength(4);
    await store.close();
    const [one] = await salvageStore(file, `${file}.new`);
    expect(one).toEqual({
      id: 'one',
      events: 5,
      problems: ['events 5 to 6 are lost', 'the last run is marked as failed'],
    });
    expect((await open(`${file}.new`).read('one')).at(-1)).toMatchObject({
      type: 'finished',
      status: 'failed',
      error: { code: 'cut_log' },
    });
  });

  test('fails if it is lost and was the last of an unfinished run', async () => {
    const file = newFile();
    const store = open(file);
    const epoch = await store.claim('one');
    for (const event of eventsOf('one', wholeRun('Go.', 2).slice(0, 5)))
      await store.append('one', [event], { epoch });
    await store.close();
    edit(file, 'DELETE FROM events WHERE seq = 5');
    expect((await refusal(() => open(file).read('one'))).message).toContain('Event 5 of session one');
  });

  test('fails if it is lost, its process crashed, and another process has written since', async () => {
    const file = newFile();
    const child = storeChild('hold', file, 'one');
    expect(await child.line()).toBe('held');
    await child.kill();
    // Simulates a process that crashed before it stored its number of events.
    edit(file, 'DELETE FROM tallies');
    const store = open(file);
    await write(store, 'two', wholeRun());
    await store.close();
    edit(file, 'DELETE FROM events WHERE segment = 1');
    expect((await refusal(() => open(file).read('one'))).message).toContain('Event 1 of session one');
  });

  test('works without the indexes', async () => {
    const file = await twoSessions();
    edit(
      file,
      "DELETE FROM segments; DELETE FROM places; UPDATE counters SET value = 9e9 WHERE name = 'noted'",
    );
    const store = open(file);
    for (const id of ['one', 'two']) expect(await store.read(id)).toHaveLength(6);
  });

  test('works in a store without checksums, and new events get one', async () => {
    const file = newFile();
    copyFileSync(new URL('../../fixtures/store/1.db', import.meta.url), file);
    const store = open(file);
    await write(store, 'one', wholeRun('More.'));
    expect(await store.read('one')).toHaveLength(12 + wholeRun().length);
    await store.close();
    const db = new DatabaseSync(file);
    const sums = db
      .prepare('SELECT seq, sum IS NULL AS old FROM events WHERE segment <> 2 ORDER BY place')
      .all();
    db.close();
    expect(sums.filter(({ old }) => old === 0)).toHaveLength(wholeRun().length);
    expect(verifyStore(file).ok).toBe(true);
    edit(file, `UPDATE events SET json = replace(json, 'More.', 'Mire.')`);
    expect((await refusal(() => open(file).read('one'))).message).toContain('Event 13 of session one');
    const report = await salvageStore(file, `${file}.new`);
    expect(report.map(({ id, events }) => [id, events])).toEqual([
      ['one', 12 + wholeRun().length - 1],
      ['two', 13],
    ]);
  });
});

describe('salvage', () => {
  test('includes events that are only in the write-ahead log [P13]', async () => {
    const file = newFile();
    const child = storeChild('hold', file, 'one');
    expect(await child.line()).toBe('held');
    await child.kill();
    expect(await salvageStore(file, `${file}.new`)).toEqual([{ id: 'one', events: 1, problems: [] }]);
    expect(await open(`${file}.new`).read('one')).toEqual(await open(file).read('one'));
  });

  test('rejects a store in use, a missing source and an existing target', async () => {
    const file = newFile();
    const store = open(file);
    await write(store, 'one', wholeRun());
    expect((await refusal(() => salvageStore(file, `${file}.new`))).code).toBe('in_use');
    await store.close();
    expect((await refusal(() => salvageStore(file, file))).code).toBe('store_exists');
    expect((await refusal(() => salvageStore(`${file}.gone`, `${file}.new`))).code).toBe('store_missing');
  });

  test('does not restore deleted sessions', async () => {
    const file = newFile();
    const store = open(file);
    await write(store, 'gone', wholeRun('gone '.repeat(2_000), 40));
    await write(store, 'kept', wholeRun());
    await store.delete('gone');
    await store.close();
    expect((await salvageStore(file, `${file}.new`)).map(({ id }) => id)).toEqual(['kept']);
  });

  test.each([
    ['a tool result', 'Found 2', 14, ['event 7 is lost']],
    [
      'a response that later events depend on',
      'Turn 2.',
      5,
      [
        'event 5 is lost',
        'later events depend on the lost ones and are omitted (10)',
        'the last run is marked as failed',
      ],
    ],
  ])('repairs a session that lost %s, and reports it [P13]', async (_what, text, events, problems) => {
    const file = newFile();
    const store = open(file);
    await write(store, 'one', wholeRun('First.', 2));
    await write(store, 'one', wholeRun('Second.', 1, 3));
    await store.close();
    // Without the VACUUM, the unused part of a page can still contain the intact event.
    edit(file, `UPDATE events SET json = replace(json, '${text}', 'Other'); VACUUM`);
    expect(await salvageStore(file, `${file}.new`)).toEqual([{ id: 'one', events, problems }]);
    const salvaged = await open(`${file}.new`).read('one');
    expect(repairLog(salvaged)).toEqual({ events: salvaged, problems: [] });
  });
});
