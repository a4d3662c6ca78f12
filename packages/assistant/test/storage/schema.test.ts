import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrations, migrationText } from '../../src/storage/schema.ts';

const folder = join(import.meta.dirname, '..', '..', 'migrations');

describe('migrations', () => {
  // After a change that was not released yet: vitest -u writes the files anew.
  it.each(migrations)(
    'the file of $name, which D1 is given, is what a file of this machine gets',
    async (one) => {
      await expect(migrationText(one)).toMatchFileSnapshot(join(folder, `${one.name}.sql`));
    },
  );

  it('there are no files but these', () => {
    expect(readdirSync(folder).sort()).toEqual(migrations.map(({ name }) => `${name}.sql`));
  });

  it('they are numbered from 1 and say nothing that D1 does not take', () => {
    for (const [index, { name, statements }] of migrations.entries()) {
      expect(name.startsWith(`${String(index + 1).padStart(4, '0')}_`)).toBe(true);
      for (const text of statements)
        expect(text).not.toMatch(/pragma|begin transaction|attach|vacuum|virtual/i);
    }
  });

  it('messages have the columns of the specification and no others [S3.10]', () => {
    const [table = ''] = migrations[0]?.statements ?? [];
    const columns = [...table.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name);
    expect(table).toMatch(/^CREATE TABLE messages /);
    expect(columns).toEqual(['id', 'chat_id', 'role', 'content', 'created_at']);
  });
});
