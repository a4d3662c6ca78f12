import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextMoment } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlMessages } from '../../src/storage/message-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let file = '';
beforeEach(() => {
  file = join(folder, 'deep', `${files++}.db`);
});

function fill(): void {
  const sql = sqliteSql({ file });
  sql.close();
}

const message = (id: string) =>
  ({ id, chatId: 'chat', role: 'user', content: id, createdAt: '2026-01-01T00:00:00.000Z' }) as const;

describe('the file of an assistant', () => {
  it('only its owner may read it, and it is written ahead', async () => {
    const sql = sqliteSql({ file });
    await sqlMessages(sql).add(message('one'));
    for (const end of ['', '-wal', '-shm']) expect(statSync(`${file}${end}`).mode & 0o777).toBe(0o600);
    expect((await sql.run('PRAGMA journal_mode')).rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await sql.run('PRAGMA synchronous')).rows).toEqual([{ synchronous: 2 }]);
    sql.close();
  });

  it('a damaged file is named as one, and left as it is', () => {
    fill();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 0, 200);
    writeFileSync(file, bytes);
    expect(() => sqliteSql({ file })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'store_damaged' }),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it('a file that lost what was in it is not taken for a new one', () => {
    fill();
    truncateSync(file, 0);
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_missing' }));
  });

  it('a file of a newer version is refused with the advice to update', () => {
    fill();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => sqliteSql({ file })).toThrow(/newer version of Cobbler/);
  });

  it('a file of another program is refused', () => {
    fill();
    rmSync(file);
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE theirs (a)');
    db.close();
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_foreign' }));
  });

  it.skipIf(process.getuid?.() === 0)('a file that cannot be written is refused at once', () => {
    fill();
    chmodSync(file, 0o400);
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_readonly' }));
  });

  it('a place that cannot be is named', () => {
    writeFileSync(join(folder, 'plain'), '');
    file = join(folder, 'plain', 'a.db');
    expect(() => sqliteSql({ file })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'store_unreachable' }),
    );
  });

  it('after it was closed everything says so', async () => {
    const sql = sqliteSql({ file });
    sql.close();
    sql.close();
    await expect(sql.run('SELECT 1')).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('statements', () => {
  it('a batch is done whole or not at all', async () => {
    const sql = sqliteSql({ file });
    const add = (id: string) => ({
      text: "INSERT INTO messages VALUES (?1, 'chat', 'user', '', '')",
      params: [id],
    });
    await expect(sql.batch([add('one'), add('two'), add('one')])).rejects.toMatchObject({ kind: 'agent' });
    expect((await sql.run('SELECT count(*) AS n FROM messages')).rows).toEqual([{ n: 0 }]);
    expect((await sql.batch([add('one'), add('two')])).map(({ changes }) => changes)).toEqual([1, 1]);
    sql.close();
  });

  it('what gives rows and changes some says how many', async () => {
    const sql = sqliteSql({ file });
    const insert = "INSERT INTO counters VALUES ('a', 1), ('b', 2) RETURNING name";
    expect(await sql.run(insert)).toMatchObject({ rows: [{ name: 'a' }, { name: 'b' }], changes: 2 });
    expect(await sql.run('SELECT 1 AS n')).toEqual({ rows: [{ n: 1 }], changes: 0 });
    expect((await sql.run("DELETE FROM counters WHERE name IN ('a', 'b')")).changes).toBe(2);
    sql.close();
  });

  it('two processes write into one file at once, and nothing is lost', async () => {
    const sql = sqliteSql({ file });
    const messages = sqlMessages(sql);
    const program = join(import.meta.dirname, 'sqlite-child.ts');
    const conditions = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...conditions, program, file, '150'], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    let own = 0;
    for (; child.exitCode === null; own += 1) {
      await messages.add(message(`own-${own}`));
      // Nothing above waits for anything, and somebody has to hear that the other process has ended.
      await nextMoment();
    }
    expect(await ended).toEqual([0, null]);
    const { rows } = await sql.run("SELECT count(*) AS n, sum(id LIKE 'child%') AS theirs FROM messages");
    expect(rows).toEqual([{ n: own + 150, theirs: 150 }]);
    expect(own).toBeGreaterThan(0);
    sql.close();
  });
});
