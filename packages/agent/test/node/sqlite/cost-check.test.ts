import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { verifyStore } from '../../../src/node/sqlite/verify.ts';
import { forkSession } from '../../../src/store/fork-session.ts';
import { wholeRun, write } from '../../../src/testing/stored-events.ts';
import { newFile, open } from './rig.ts';

const day = Date.parse('2026-01-03T00:00:00.000Z');

/** Returns a store with two sessions and the costs of a deleted one. */
async function filled(): Promise<string> {
  const file = newFile();
  const store = open(file);
  for (const id of ['one', 'two', 'deleted']) await write(store, id, wholeRun('Go.', 3));
  await forkSession(store, { from: 'one', to: 'copy' }, { now: () => day });
  await store.delete('deleted');
  await store.close();
  return file;
}

function damage(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

const problemsIn = (file: string) =>
  verifyStore(file).sessions.flatMap(({ id, problem }) => (problem === undefined ? [] : `${id}: ${problem}`));

describe('the check of the stored costs', () => {
  test('accepts forks, deleted sessions, new sessions with their ids, and deleted costs', async () => {
    const file = await filled();
    expect(problemsIn(file)).toEqual([]);
    const store = open(file);
    await write(store, 'deleted', wholeRun('Again.'));
    expect(problemsIn(file)).toEqual([]);
    await store.deleteCosts?.(day);
    await store.deleteCosts?.(0);
    expect(await store.costs?.({ by: 'kind' })).toEqual([]);
    await store.close();
    expect(verifyStore(file).ok).toBe(true);
  });

  const ofTwo = "payer IN (SELECT payer FROM payers WHERE session = 'two')";

  test.each([
    ['a smaller amount', `UPDATE spending SET usd = usd - 0.5 WHERE ${ofTwo}`],
    ['another count', `UPDATE spending SET requests = requests - 1 WHERE ${ofTwo}`],
    ['a lost row', `DELETE FROM spending WHERE ${ofTwo}`],
    ['a lost name', "DELETE FROM payers WHERE session = 'two'"],
    ['another model', "UPDATE payers SET model = 'x' WHERE session = 'two'"],
    ['another time', `UPDATE spending SET quarter = quarter + 1 WHERE ${ofTwo}`],
  ])('names the session for %s', async (_, sql) => {
    const file = await filled();
    damage(file, sql);
    expect(problemsIn(file)).toEqual(['two: Its costs differ from those in its events.']);
  });

  test('names the session for a larger amount after its creation', async () => {
    const file = await filled();
    damage(file, `UPDATE sessions SET created = 0, sum = NULL; UPDATE spending SET usd = 99 WHERE ${ofTwo}`);
    expect(problemsIn(file)).toEqual(['two: Its costs differ from those in its events.']);
  });
});
