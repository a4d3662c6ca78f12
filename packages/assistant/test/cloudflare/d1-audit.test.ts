import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { d1AuditLines } from '../../src/cloudflare/index.ts';
import { sqliteSql } from '../../src/sqlite/index.ts';

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'audit-lines-'));
  const sql = sqliteSql({ file: join(folder, 'chats.db') });
  onTestFinished(() => {
    sql.close();
    rmSync(folder, { recursive: true });
  });
  return d1AuditLines(sql);
}

describe('the lines of an audit log in D1', () => {
  it('are appended in order, after the last line only', async () => {
    const lines = opened();
    expect(await lines.last()).toBeUndefined();
    expect(await lines.append(0, ['one', 'two'])).toBe(true);
    expect(await lines.append(0, ['other'])).toBe(false);
    expect(await lines.append(1, ['other'])).toBe(false);
    expect(await lines.append(3, ['other'])).toBe(false);
    expect(await lines.append(2, ['three'])).toBe(true);
    expect(await lines.last()).toBe('three');
    expect(await lines.read(0, 2)).toEqual(['one', 'two']);
    expect(await lines.read(2, 2)).toEqual(['three']);
  });

  it('of two programs that append at the same time, those of one are rejected', async () => {
    const lines = opened();
    const both = await Promise.all([lines.append(0, ['one', 'two']), lines.append(0, ['other'])]);
    expect(both.filter(Boolean)).toHaveLength(1);
  });
});
