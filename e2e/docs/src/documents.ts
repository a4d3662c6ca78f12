// The documents, and their parts that a reader can type, compile or follow.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page of the documentation. */
export interface Page {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** Number of its first line, starting at 1. */
  readonly line: number;
  /** The language after the fence; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** Inline code of a page. */
export interface InlineCode {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** Files that are not documents: generated, or input of other programs. */
const noDocument = /^(site\/(?!index\.md$)|apps\/cli\/demo\/|.*\/(test|fixtures)\/)/;

/** Documents without commands to type: decisions, changelogs, lists of exports. */
const onlyRead = /^(docs\/decisions\/|\.changeset\/|.*\/api\.md$|.*CHANGELOG\.md$)/;

/** Returns every document of the working tree, README first. */
export function readPages(root: string): Page[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', '*.md', 'llms.txt'];
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  const rank = (path: string) => (path === 'README.md' ? 0 : path.includes('/') ? 2 : 1);
  return [...new Set(paths)]
    .filter((path) => !noDocument.test(path))
    .sort((left, right) => rank(left) - rank(right) || left.localeCompare(right))
    .flatMap((path) => {
      const text = textOf(join(root, path));
      return text === undefined ? [] : [{ path, text }];
    });
}

/** Returns the pages whose commands and programs are tested. */
export function followedPages(root: string): Page[] {
  return readPages(root).filter(({ path }) => !onlyRead.test(path));
}

/** Returns undefined for a page that was deleted but is still in git's index. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the fenced blocks of a page. Those in lists lose their indent. */
export function blocksOf({ path, text }: Page): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; language: string; indent: string; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^(\s*)```+\s*([\w-]*)/.exec(line);
    if (open === undefined) {
      const [, indent = '', language = ''] = fence ?? [];
      if (fence !== null) open = { line: index + 2, language, indent, lines: [] };
    } else if (fence !== null) {
      const { line: start, language, lines } = open;
      blocks.push({ page: path, line: start, language, text: lines.join('\n') });
      open = undefined;
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line.trimStart());
    }
  }
  return blocks;
}

/** Returns the inline code of a page, outside of fenced blocks. */
export function inlineCodeOf(page: Page): InlineCode[] {
  return proseOf(page).flatMap(({ line, text }) =>
    // In a table, a bar is written as \|.
    [...text.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code = '']) => ({
      page: page.path,
      line,
      text: code.replaceAll('\\|', '|'),
    })),
  );
}

/** Returns the lines outside of fenced blocks. */
export function proseOf({ text }: Page): { readonly line: number; readonly text: string }[] {
  let isFenced = false;
  return text.split('\n').flatMap((line, index) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    return isFence || isFenced ? [] : [{ line: index + 1, text: line }];
  });
}
