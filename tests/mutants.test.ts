import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folders = ['packages', 'apps']
  .flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name)))
  .filter((folder) => existsSync(join(root, folder, 'test', 'mutants.ts')));

test('ten packages list mutants', () => {
  expect(folders).toHaveLength(10);
});

test.each(folders)('every test file that a mutant of %s names exists', async (folder) => {
  const { mutants } = (await import(join(root, folder, 'test', 'mutants.ts'))) as {
    mutants: readonly { readonly by: string }[];
  };
  const files = [...new Set(mutants.map(({ by }) => by))].filter((by) => by.startsWith('test/'));
  expect(files.filter((file) => !existsSync(join(root, folder, file)))).toEqual([]);
});
