import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'llms.txt'), 'utf8');
const lines = text.split('\n');
const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)(.*)$/gm)].map(([, path = '', rest = '']) => ({
  path,
  rest,
}));

describe('llms.txt', () => {
  test('has a title, a summary and sections of links, as llmstxt.org specifies', () => {
    expect(lines[0]).toMatch(/^# \S/);
    expect(lines[2]).toMatch(/^> \S/);
    const inSections = lines.slice(lines.findIndex((line) => line.startsWith('## ')));
    expect(inSections.filter((line) => line !== '' && !/^(## \S|- \[)/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('- ['))).toHaveLength(links.length);
  });

  test('lists every page in docs, and no page twice', () => {
    const pages = globSync('docs/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
    expect(pages.length).toBeGreaterThan(20);
    const listed = links.map(({ path }) => path);
    expect(pages.filter((page) => !listed.includes(page))).toEqual([]);
    expect(listed.filter((path, at) => listed.indexOf(path) !== at)).toEqual([]);
  });

  test('links only to existing files, each with a short description', () => {
    expect(links.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
    expect(links.filter(({ rest }) => !/^: \S.{9,}$/.test(rest))).toEqual([]);
  });
});
