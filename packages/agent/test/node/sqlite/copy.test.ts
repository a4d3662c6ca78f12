import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copyDatabase, isDatabase, sqliteStore } from '../../../src/node/index.ts';

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-copy-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe('a copy of a database', () => {
  test('contains only committed data and is readable only by its owner', async () => {
    const [from, to] = [join(folder(), 'a.db'), join(folder(), 'b.db')];
    const store = sqliteStore(from);
    await store.claim('kept');
    const writer = new DatabaseSync(from);
    writer.exec("BEGIN IMMEDIATE; UPDATE counters SET value = 77 WHERE name = 'epoch'");
    const facts = copyDatabase(from, to);
    writer.exec('ROLLBACK');
    writer.close();
    await store.close();
    expect([facts, statSync(to).mode & 0o777]).toEqual([{ applicationId: 0x436f6262, format: 6 }, 0o600]);
    const copy = new DatabaseSync(to, { readOnly: true });
    expect(copy.prepare("SELECT value FROM counters WHERE name = 'epoch'").get()).toEqual({ value: 1 });
    copy.close();
    expect(isDatabase(to)).toBe(true);
  });

  test('does not overwrite a file, and rejects a source that is not a database', () => {
    const [from, to] = [join(folder(), 'a.db'), join(folder(), 'b.db')];
    sqliteStore(from);
    writeFileSync(to, 'mine');
    expect(() => copyDatabase(from, to)).toThrow();
    expect(isDatabase(to)).toBe(false);
    const text = join(folder(), 'text');
    writeFileSync(text, 'no database'.repeat(100));
    expect(() => copyDatabase(text, `${to}-2`)).toThrow(expect.objectContaining({ code: 'store_damaged' }));
  });
});
