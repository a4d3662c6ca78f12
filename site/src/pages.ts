// Lists the pages of the site and their titles. Independent of the site generator.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { groups, others } from './groups.ts';

/** A page of the site. */
export interface Page {
  /** The file or directory that the page shows, relative to the repository root; `api` for the reference. */
  readonly source: string;
  /** The markdown file to build, relative to the pages directory. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** Markdown files shown unchanged. */
const markdown = [
  '*.md',
  'site/index.md',
  'docs/**/*.md',
  'examples/*.md',
  'bench/*.md',
  '{packages,apps}/*/README.md',
];

/** Directories whose files are shown as source code. */
const shown = ['examples', 'deploy'];

/** API snapshots and agent instructions, which are not pages. */
const left = /(^|\/)(api|AGENTS|CLAUDE)\.md$/;

/** Returns every page except the API reference. */
export function readPages(root: string): Page[] {
  const texts = globSync(markdown, { cwd: root, exclude: (name) => name === 'node_modules' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !left.test(file))
    .map((source) => textPage(source, readFileSync(join(root, source), 'utf8')));
  const sources = globSync(
    shown.map((folder) => `${folder}/*`),
    { cwd: root },
  )
    .map((file) => file.replaceAll('\\', '/'))
    .filter(
      (file) =>
        !/\.md$|(^|\/)(package\.json|node_modules)$/.test(file) && statSync(join(root, file)).isFile(),
    )
    .map((source) => sourcePage(source, readFileSync(join(root, source), 'utf8')));
  const pages = [...texts, ...sources].sort((one, other) => (one.source < other.source ? -1 : 1));
  const folders = ['docs/decisions', ...shown]
    .filter((folder) => !pages.some(({ source }) => source === `${folder}/README.md`))
    .map((folder) => listPage(folder, pages));
  return [...pages, ...folders];
}

function textPage(source: string, raw: string): Page {
  // Removes notes to editors of the file.
  const text = raw.replace(/^<!--.*?-->\n/gms, '');
  const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? basename(source, '.md');
  return { source, path: pathOf(source), title, text };
}

/** The landing page is the first page of the site, and a README is the first page of its directory. */
function pathOf(source: string): string {
  if (source === 'site/index.md') return 'index.md';
  return source === 'README.md' ? 'readme.md' : source.replace(/\/README\.md$/, '/index.md');
}

/** Shows a source file in a code block, below the file's first comment. */
function sourcePage(source: string, code: string): Page {
  const title = basename(source);
  const intro = /^\/\/ (Shows .*(?:\n\/\/ (?!Run).+)*)/.exec(code)?.[1]?.replaceAll('\n// ', ' ');
  const language = languages[extname(source)] ?? 'text';
  const summary = intro === undefined ? `\`${source}\`` : intro;
  // Code is wide, and the page has no headings for an outline.
  const text = `---\naside: false\n---\n\n# ${title}\n\n${summary}\n\n\`\`\`\`${language}\n${code.trimEnd()}\n\`\`\`\`\n`;
  // A dot in the name would make the address a file name.
  return { source, path: `${source.replace(/\.ts$/, '').replaceAll('.', '-')}.md`, title, text };
}

const languages: Readonly<Record<string, string>> = {
  '.ts': 'ts',
  '.mjs': 'js',
  '.json': 'json',
  '.yaml': 'yaml',
  '.conf': 'nginx',
  '.service': 'ini',
};

/** Lists the pages of a directory that has no README. */
function listPage(folder: string, pages: readonly Page[]): Page {
  const title = titleOf(folder);
  const lines = pages
    .filter(({ source }) => posix.dirname(source) === folder)
    .map((page) => `- [${page.title}](${linkTo(page.path)})`);
  return { source: folder, path: `${folder}/index.md`, title, text: `# ${title}\n\n${lines.join('\n')}\n` };
}

function titleOf(folder: string): string {
  const name = basename(folder);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** An entry of the sidebar. */
export interface Item {
  readonly text: string;
  readonly link: string;
}

/** Returns the sidebar: the groups with their pages, and unlisted pages in their default group. */
export function sidebarOf(pages: readonly Page[]): { text: string; collapsed: boolean; items: Item[] }[] {
  const named = new Set(groups.flatMap(({ files }) => files));
  const unnamed = pages.filter(({ source }) => !named.has(source));
  return groups
    .map(({ title, files, folded = false }) => {
      const rest = others.find((one) => one.title === title)?.files;
      const mine = [
        ...files.flatMap((file) => pages.filter(({ source }) => source === file)),
        ...unnamed.filter(({ source }) => rest?.test(source)),
      ];
      return { text: title, collapsed: folded, items: mine.map(itemOf) };
    })
    .filter(({ items }) => items.length > 0);
}

function itemOf({ source, path, title }: Page): Item {
  return { text: source === 'README.md' ? 'Overview' : title, link: linkTo(path) };
}

/** Returns the address of a page, relative to the site root. */
export function linkTo(path: string): string {
  return `/${path.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

/** The target of a link in a document. */
export type Target =
  /** A page; `link` is its address relative to the site root. */
  | { readonly type: 'page'; readonly link: string }
  /** A file that is not a page, shown as its name. */
  | { readonly type: 'file' }
  /** Another site, the same page, or a missing file, which the build reports. */
  | { readonly type: 'elsewhere' };

/** Resolves a link in the document `from`. */
export function targetOf(root: string, pages: readonly Page[], from: string, href: string): Target {
  if (/^([a-z]+:|#|\/)/i.test(href)) return { type: 'elsewhere' };
  const [file = '', anchor] = decodeURI(href).split('#');
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, '');
  const page = pages.find(({ source }) => source === path || source === posix.join(path, 'README.md'));
  if (page) return { type: 'page', link: `${linkTo(page.path)}${anchor === undefined ? '' : `#${anchor}`}` };
  return { type: existsSync(join(root, path)) ? 'file' : 'elsewhere' };
}
