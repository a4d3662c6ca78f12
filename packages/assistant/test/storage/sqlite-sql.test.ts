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

describe('the database file of an assistant', () => {
  it('is readable only by its owner and uses write-ahead logging', async () => {
    const sql = sqliteSql({ file });
    await sqlMessages(sql).add(message('one'));
    for (const end of ['', '-wal', '-shm']) expect(statSync(`${file}${end}`).mode & 0o777).toBe(0o600);
    expect((await sql.run('PRAGMA journal_mode')).rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await sql.run('PRAGMA synchronous')).rows).toEqual([{ synchronous: 2 }]);
    sql.close();
  });

  it('is reported as damaged and not changed', () => {
    fill();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 0, 200);
    writeFileSync(file, bytes);
    expect(() => sqliteSql({ file })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'store_damaged' }),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it('is reported as missing if it was truncated, and not created again', () => {
    fill();
    truncateSync(file, 0);
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_missing' }));
  });

  it('is refused with advice to update if a newer version wrote it', () => {
    fill();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    expect(() => sqliteSql({ file })).toThrow(/newer version of Cobbler/);
  });

  it('is refused if it belongs to another program', () => {
    fill();
    rmSync(file);
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE theirs (a)');
    db.close();
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_foreign' }));
  });

  it('is refused on opening if it is not writable', ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may write to every file');
    fill();
    chmodSync(file, 0o400);
    expect(() => sqliteSql({ file })).toThrow(expect.objectContaining({ code: 'store_readonly' }));
  });

  it('is reported as unreachable if its path leads through a file', () => {
    writeFileSync(join(folder, 'plain'), '');
    file = join(folder, 'plain', 'a.db');
    expect(() => sqliteSql({ file })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'store_unreachable' }),
    );
  });

  it('rejects every statement after it is closed', async () => {
    const sql = sqliteSql({ file });
    sql.close();
    sql.close();
    await expect(sql.run('SELECT 1')).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('statements', () => {
  it('of a batch either all take effect or none', async () => {
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

  it('that return rows and change some also return the number of changes', async () => {
    const sql = sqliteSql({ file });
    const insert = "INSERT INTO counters VALUES ('a', 1), ('b', 2) RETURNING name";
    expect(await sql.run(insert)).toMatchObject({ rows: [{ name: 'a' }, { name: 'b' }], changes: 2 });
    expect(await sql.run('SELECT 1 AS n')).toEqual({ rows: [{ n: 1 }], changes: 0 });
    expect((await sql.run("DELETE FROM counters WHERE name IN ('a', 'b')")).changes).toBe(2);
    sql.close();
  });

  it('of two processes that write to one file at the same time all take effect', async () => {
    const sql = sqliteSql({ file });
    const messages = sqlMessages(sql);
    const program = join(import.meta.dirname, 'sqlite-child.ts');
    const conditions = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...conditions, program, file, '150'], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    let own = 0;
    for (; child.exitCode === null; own += 1) {
      await messages.add(message(`own-${own}`));
      // Yields to the event loop, which otherwise could not report the exit of the child process.
      await nextMoment();
    }
    expect(await ended).toEqual([0, null]);
    const { rows } = await sql.run("SELECT count(*) AS n, sum(id LIKE 'child%') AS theirs FROM messages");
    expect(rows).toEqual([{ n: own + 150, theirs: 150 }]);
    expect(own).toBeGreaterThan(0);
    sql.close();
  });
});
