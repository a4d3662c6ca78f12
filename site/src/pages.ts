// Which files of the project are pages of the site, and what each is called. Knows no tool that draws them.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { groups, others } from './groups.ts';

/** A page of the site. */
export interface Page {
  /** The file or folder of the project that it shows, from the root; `api` for the reference. */
  readonly source: string;
  /** The markdown file that is drawn, from the root of the pages. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** Markdown that is shown as it is. */
const markdown = ['*.md', 'docs/**/*.md', 'examples/*.md', 'bench/*.md', '{packages,apps}/*/README.md'];

/** Folders whose files are shown as source. */
const shown = ['examples', 'deploy'];

/** Snapshots for reviewers; readers have the reference. */
const left = /(^|\/)(api|AGENTS|CLAUDE)\.md$/;

/** Every page but those of the API reference, of which there is only the first. */
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
  // Notes for whoever edits the file.
  const text = raw.replace(/^<!--.*?-->\n/gms, '');
  const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? basename(source, '.md');
  return { source, path: source.replace(/(^|\/)README\.md$/, '$1index.md'), title, text };
}

/** A file in a block of code, with the comment that it begins with above it. */
function sourcePage(source: string, code: string): Page {
  const title = basename(source);
  const intro = /^\/\/ (Shows .*(?:\n\/\/ (?!Run).+)*)/.exec(code)?.[1]?.replaceAll('\n// ', ' ');
  const language = languages[extname(source)] ?? 'text';
  const told = intro === undefined ? `\`${source}\`` : intro;
  // Code is wide, and has no headings to list beside it.
  const text = `---\naside: false\n---\n\n# ${title}\n\n${told}\n\n\`\`\`\`${language}\n${code.trimEnd()}\n\`\`\`\`\n`;
  // An ending would make the address one of a file.
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

/** A folder without a page of its own. */
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

/** The sidebar: the groups with their pages, and those that no group names where they go. */
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
  return { text: source === 'README.md' ? 'What Cobbler is' : title, link: linkTo(path) };
}

/** The address of a page, from the root of the site. */
export function linkTo(path: string): string {
  return `/${path.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

/** Where a link in a file of the project leads. */
export type Target =
  /** To a page; the address from the root of the site. */
  | { readonly type: 'page'; readonly link: string }
  /** To a file that is no page: its name is all there is to show. */
  | { readonly type: 'file' }
  /** Out of the project, within the same page, or nowhere: that is found out when the site is built. */
  | { readonly type: 'elsewhere' };

/** Finds out where a link leads. */
export function targetOf(root: string, pages: readonly Page[], from: string, href: string): Target {
  if (/^([a-z]+:|#|\/)/i.test(href)) return { type: 'elsewhere' };
  const [file = '', anchor] = decodeURI(href).split('#');
  const path = posix.join(posix.dirname(from), file).replace(/\/$/, '');
  const page = pages.find(({ source }) => source === path || source === posix.join(path, 'README.md'));
  if (page) return { type: 'page', link: `${linkTo(page.path)}${anchor === undefined ? '' : `#${anchor}`}` };
  return { type: existsSync(join(root, path)) ? 'file' : 'elsewhere' };
}
