import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrations, migrationText } from '../../src/storage/schema.ts';

const folder = join(import.meta.dirname, '..', '..', 'migrations');

describe('migrations', () => {
  // After changing an unreleased migration, run `vitest -u` to write the files again.
  it.each(migrations)('match their D1 file: $name', async (one) => {
    await expect(migrationText(one)).toMatchFileSnapshot(join(folder, `${one.name}.sql`));
  });

  it('have no other files', () => {
    expect(readdirSync(folder).sort()).toEqual(migrations.map(({ name }) => `${name}.sql`));
  });

  it('are numbered from 1 and contain no statement that D1 rejects', () => {
    for (const [index, { name, statements }] of migrations.entries()) {
      expect(name.startsWith(`${String(index + 1).padStart(4, '0')}_`)).toBe(true);
      for (const text of statements)
        expect(text).not.toMatch(/pragma|begin transaction|attach|vacuum|virtual/i);
    }
  });

  it('give the messages table exactly the specified columns [S3.10]', () => {
    const [table = ''] = migrations[0]?.statements ?? [];
    const columns = [...table.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name);
    expect(table).toMatch(/^CREATE TABLE messages /);
    expect(columns).toEqual(['id', 'chat_id', 'role', 'content', 'created_at']);
  });
});
