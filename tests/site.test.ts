import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deadLinks } from '../site/src/dead-links.ts';
import type { Page } from '../site/src/pages.ts';
import { readPages, sidebarOf, targetOf } from '../site/src/pages.ts';

const home = mkdtempSync(join(tmpdir(), 'cobbler-site-'));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
}

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the pages of the site', () => {
  let pages: Page[] = [];

  beforeAll(() => {
    write({
      'README.md': '# Cobbler\n',
      'site/index.md': '# Landing\n',
      'docs/brand-new.md': '<!-- for editors -->\n# A `new` guide\n',
      'docs/decisions/0001-why.md': '# Why\n',
      'examples/hello.ts': '// Shows a run,\n// and its end.\n// Run it with: npm\nrun();\n',
      'examples/package.json': '{}',
      'packages/one/README.md': '# one\n',
      'packages/one/api.md': '# What one offers\n',
      'packages/one/src/index.ts': '',
    });
    pages = readPages(home);
  });

  test('list a new guide among the guides, with its heading as the title', () => {
    const guides = sidebarOf(pages).find(({ text }) => text === 'Guides');
    expect(guides?.items).toEqual([{ text: 'A new guide', link: '/docs/brand-new' }]);
    expect(pages.find(({ source }) => source === 'docs/brand-new.md')?.text).toBe('# A `new` guide\n');
  });

  test('include a page for a directory without its own, with links to its files', () => {
    expect(pages.find(({ source }) => source === 'docs/decisions')?.text).toBe(
      '# Decisions\n\n- [Why](/docs/decisions/0001-why)\n',
    );
  });

  test('use site/index.md as the landing page', () => {
    expect(pages.find(({ path }) => path === 'index.md')?.source).toBe('site/index.md');
  });

  test('the landing page of this site has its layout and features in its front matter', () => {
    const landing = readFileSync(join(import.meta.dirname, '../site/index.md'), 'utf8');
    expect(landing).toMatch(
      /^---\nlayout: home\n[\s\S]*?\nfeatures:\n( {2}- title: .+\n {4}details: .+\n)+---\n/,
    );
  });

  test('show the first comment of an example before its code', () => {
    expect(pages.find(({ path }) => path === 'examples/hello.md')?.text).toBe(
      '---\naside: false\n---\n\n# hello.ts\n\nShows a run, and its end.\n\n````ts\n// Shows a run,\n// and its end.\n// Run it with: npm\nrun();\n````\n',
    );
  });

  test('do not include api.md and package.json', () => {
    expect(pages.map(({ source }) => source).filter((source) => /api\.md|json/.test(source))).toEqual([]);
  });

  test.each([
    ['README.md', 'docs/brand-new.md#x', { type: 'page', link: '/docs/brand-new#x' }],
    ['docs/brand-new.md', '../README.md', { type: 'page', link: '/readme' }],
    ['site/index.md', '../docs/brand-new.md', { type: 'page', link: '/docs/brand-new' }],
    ['docs/brand-new.md', 'decisions', { type: 'page', link: '/docs/decisions/' }],
    ['docs/brand-new.md', '../examples/', { type: 'page', link: '/examples/' }],
    ['docs/brand-new.md', '../packages/one/README.md', { type: 'page', link: '/packages/one/' }],
    ['docs/brand-new.md', '../packages/one/src', { type: 'file' }],
    ['docs/brand-new.md', 'gone.md', { type: 'elsewhere' }],
    ['README.md', 'https://example.org', { type: 'elsewhere' }],
    ['README.md', '#part', { type: 'elsewhere' }],
  ] as const)('in %s, a link to %s resolves to %o', (from, href, target) => {
    expect(targetOf(home, pages, from, href)).toEqual(target);
  });
});

test('reports links to missing pages and anchors as dead', () => {
  const page = [
    '<a href="/">', // the first page
    '<a href="other.html#there">',
    '<a href="other.html#not-there">',
    '<a href="/a.css">',
    '<a href="gone.html">',
    '<a href="https://example.org/gone">',
    '<a href="#here" id="here">',
    '<a href="#nowhere">',
  ];
  write({
    'dist/index.html': '<h1>',
    'dist/a.css': '',
    'dist/docs/page.html': page.join(''),
    'dist/docs/other.html': '<h2 id="there">',
  });
  expect(deadLinks(join(home, 'dist'))).toEqual([
    'docs/page.html -> other.html#not-there',
    'docs/page.html -> gone.html',
    'docs/page.html -> #nowhere',
  ]);
});
