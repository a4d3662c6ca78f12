import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DefaultTheme, MarkdownOptions } from 'vitepress';
import { defineConfig } from 'vitepress';
import { readEntries, referenceLink } from '../src/entries.ts';
import { referencePage } from '../src/gather.ts';
import { readPages, sidebarOf, targetOf } from '../src/pages.ts';

const site = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(site);
const drawn = join(site, 'pages');
const ours = readPages(root);
const pages = [...ours, referencePage];
const sourceOf = new Map(ours.map(({ source, path }) => [path, source]));

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Turns links between files into links between pages, or into plain text for files that are not pages. */
function followLinks(md: Markdown): void {
  md.core.ruler.push('project-links', ({ tokens, env }) => {
    const source = sourceOf.get(relative(drawn, env.path));
    if (source === undefined) return;
    for (const { children } of tokens) {
      let plain = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const target = targetOf(root, pages, source, String(token.attrGet('href')));
          if (target.type === 'page') token.attrSet('href', target.link);
          plain = target.type === 'file';
        }
        if (plain && (token.type === 'link_open' || token.type === 'link_close')) token.type = 'text';
      }
    }
  });
}

/** Shows tags and templates in documents as text. The reference has its own anchors, and the landing page its own layout. */
function keepLiteral(md: Markdown): void {
  md.core.ruler.before('normalize', 'literal', ({ env }) => {
    md.options.html = /^(api\/|index\.md$)/.test(relative(drawn, env.path));
  });
  const { text } = md.renderer.rules;
  md.renderer.rules['text'] = (...args) =>
    (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;').replaceAll('}}', '&#125;&#125;');
}

/** Returns the anchor of a heading, the same as on GitHub, so that a link between files works in both places. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** The sidebar of the API reference: one item per import specifier. */
const reference: DefaultTheme.SidebarItem = {
  text: 'API',
  items: readEntries(root).map((entry) => ({ text: entry.specifier, link: referenceLink(entry) })),
};

/** Requires every search word, and ranks guides above the reference. */
const searchOptions = {
  combineWith: 'AND' as const,
  fuzzy: false,
  prefix: (word: string) => word.length > 2,
  processTerm: (word: string) => (word.length > 1 ? word.toLowerCase() : null),
  boost: { title: 4, titles: 2, text: 1 },
  boostDocument: (page: string) =>
    page.startsWith('/api/') || page.startsWith('/docs/requirements') ? 0.3 : 1,
};

const themeConfig: DefaultTheme.Config = {
  nav: [
    { text: 'Guide', link: '/docs/first-agent', activeMatch: '^/docs/(?!decisions)' },
    { text: 'Examples', link: '/examples/' },
    { text: 'API', link: '/api/' },
    { text: 'Decisions', link: '/docs/decisions/' },
  ],
  sidebar: { '/api/': [reference], '/': sidebarOf(pages) },
  outline: [2, 3],
  search: { provider: 'local', options: { detailedView: false, miniSearch: { searchOptions } } },
  docFooter: { prev: 'Previous', next: 'Next' },
};

export default defineConfig({
  title: 'Cobbler',
  description:
    'A TypeScript agent runtime that runs a language model with tools until a task is complete, and survives failures.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache',
  // Any file server can serve the pages, even one that does not resolve addresses without an extension.
  cleanUrls: false,
  // `deadLinks` checks the built pages, including anchors.
  ignoreDeadLinks: true,
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      followLinks(md);
      keepLiteral(md);
    },
  },
  // Keeps the shared metadata in one file instead of repeating it on each of a thousand pages.
  metaChunk: true,
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  themeConfig,
});
