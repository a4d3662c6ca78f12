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

/** Links between files of the project become links between pages, or names of files that are none. */
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

/** What looks like a tag or a template in our texts is text. The reference brings anchors of its own. */
function keepLiteral(md: Markdown): void {
  md.core.ruler.before('normalize', 'literal', ({ env }) => {
    md.options.html = relative(drawn, env.path).startsWith('api/');
  });
  const { text } = md.renderer.rules;
  md.renderer.rules['text'] = (...args) =>
    (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;').replaceAll('}}', '&#125;&#125;');
}

/** What is imported, for who reads the reference. */
const reference: DefaultTheme.SidebarItem = {
  text: 'API',
  items: readEntries(root).map((entry) => ({ text: entry.specifier, link: referenceLink(entry) })),
};

/** Every word counts, and what is written for readers comes before what is written for editors. */
const searchOptions = {
  combineWith: 'AND' as const,
  fuzzy: false,
  prefix: (word: string) => word.length > 2,
  processTerm: (word: string) => (word.length > 1 ? word.toLowerCase() : null),
  boost: { title: 4, titles: 2, text: 1 },
  boostDocument: (page: string) => (page.startsWith('/api/') || page.startsWith('/docs/seeds') ? 0.3 : 1),
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
  docFooter: { prev: 'Before', next: 'Next' },
};

export default defineConfig({
  title: 'Cobbler',
  description:
    'Runs a language model with tools until a task is done, and stays correct when the world is not.',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache',
  // Pages open from any file server, also one that knows nothing of addresses without an ending.
  cleanUrls: false,
  // They are looked for in what was built, places within pages included.
  ignoreDeadLinks: true,
  markdown: {
    config(md) {
      followLinks(md);
      keepLiteral(md);
    },
  },
  // What all pages have in common is a file of its own, not a part of each of a thousand.
  metaChunk: true,
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  themeConfig,
});
