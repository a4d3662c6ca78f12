// Which documents there are, and what stands in them that a reader can type, compile or follow.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page of the documentation. */
export interface Page {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line of its first line, from 1. */
  readonly line: number;
  /** As behind the fence; empty when nothing stands there. */
  readonly language: string;
  readonly text: string;
}

/** Code within a line of a page. */
export interface InlineCode {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** No documents: made of others, or input to something else. */
const noDocument = /^(site\/(?!index\.md$)|apps\/cli\/demo\/|.*\/(test|fixtures)\/)/;

/** Documents that nobody follows by typing: why things are as they are, what changed, what is exported. */
const onlyRead = /^(docs\/decisions\/|\.changeset\/|.*\/api\.md$|.*CHANGELOG\.md$)/;

/** Every document of the working tree, README first. */
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

/** Those whose commands and programs a reader tries. */
export function followedPages(root: string): Page[] {
  return readPages(root).filter(({ path }) => !onlyRead.test(path));
}

/** Nothing for a page that was deleted and is still in git's index. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The fenced blocks of a page; those in lists lose their indent. */
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

/** The code within lines, outside of fenced blocks. */
export function inlineCodeOf(page: Page): InlineCode[] {
  return proseOf(page).flatMap(({ line, text }) =>
    // In a table a bar is written as \|.
    [...text.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code = '']) => ({
      page: page.path,
      line,
      text: code.replaceAll('\\|', '|'),
    })),
  );
}

/** The lines outside of fenced blocks. */
export function proseOf({ text }: Page): { readonly line: number; readonly text: string }[] {
  let isFenced = false;
  return text.split('\n').flatMap((line, index) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isFenced = !isFenced;
    return isFence || isFenced ? [] : [{ line: index + 1, text: line }];
  });
}
