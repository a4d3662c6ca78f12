import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| (?!Boundary|-|Version|Latest|Older)/.test(line) && line.split(' | ').length === 4);

describe('SECURITY.md', () => {
  test('lists more than 20 boundaries', () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  test.each(rows.map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row]))(
    '%s: the linked files and the quoted test exist',
    (_, row) => {
      for (const [, path = ''] of row.matchAll(/\]\(([^)#]+)/g))
        expect(existsSync(join(root, path)), path).toBe(true);
      const proof = /\]\(([^)]+)\): "([^"]+)" \|$/.exec(row);
      if (proof === null) return expect(row).toMatch(/not tested here \|$/);
      const [, file = '', words = ''] = proof;
      expect(readFileSync(join(root, file), 'utf8')).toContain(words);
    },
  );
});
