import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { UserPart } from '@cobbler/agent';
import { readAttachment } from '../../config/attachment.ts';
import type { MenuItem } from './menu.ts';

/** `@path` or `@"a path"`, at the start of a word. */
const reference = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g;

/** A prompt and the files that it names with `@`. */
export interface PromptWithFiles {
  readonly parts: readonly UserPart[];
  /** Names that look like files that do not exist. */
  readonly missing: readonly string[];
}

/**
 * Converts a prompt to parts: its text, from which a session gets its title, then the files that it names. A name
 * after `@` that is not a file remains text: it may be a package or a user.
 * @throws UsageError for a file that cannot be read or sent.
 */
export function withReferences(text: string, folder: string): PromptWithFiles {
  const paths = [...text.matchAll(reference)].map(([, quoted, plain = '']) => quoted ?? plain);
  const found = new Map<string, UserPart>();
  const missing: string[] = [];
  for (const path of paths) {
    const name = [path, path.replace(/[.,;:!?)]+$/, '')].find((one) => isFile(resolve(folder, one)));
    if (name !== undefined) found.set(name, readAttachment(name, folder));
    else if (path.includes('/') && !statSync(resolve(folder, path), { throwIfNoEntry: false })?.isDirectory())
      missing.push(path);
  }
  return { parts: [{ type: 'text', text }, ...found.values()], missing };
}

/** A longer pasted text is not read as paths. */
const maxDropped = 4000;

/**
 * Returns references to the images and PDFs whose absolute paths are pasted: a terminal pastes them, quoted, escaped or as
 * addresses, when files are dropped on it. Undefined for any other text.
 */
export function droppedFiles(pasted: string, folder: string): string[] | undefined {
  const text = pasted.trim();
  if (text.length > maxDropped) return undefined;
  const words = text.match(/'[^']*'|"[^"]*"|(?:\\.|[^\s\\'"])+/g) ?? [];
  const files = [[text], words.map(unquoted)].find((all) => all.length > 0 && all.every(isDropped));
  return files?.map((file) => {
    const path = pathOf(file);
    const inside = relative(folder, path);
    const name = inside.startsWith('..') || isAbsolute(inside) ? path : inside;
    return /\s/.test(name) ? `@"${name}"` : `@${name}`;
  });
}

function unquoted(word: string): string {
  return /^['"]/.test(word) ? word.slice(1, -1) : word.replaceAll(/\\(.)/g, '$1');
}

function pathOf(given: string): string {
  return given.startsWith('file://') ? fileURLToPath(given) : given;
}

function isDropped(given: string): boolean {
  try {
    const path = pathOf(given);
    // A reference cannot contain a quotation mark.
    return isAbsolute(path) && /^[^"\p{C}]+\.(png|jpe?g|gif|webp|pdf)$/iu.test(path) && isFile(path);
  } catch {
    return false;
  }
}

/** Returns the part of a path typed after `@`, up to the cursor; undefined if there is none. */
export function typedPath(text: string, cursor: number): string | undefined {
  return /(?:^|\s)@"?([^\s"]*)$/.exec(text.slice(0, cursor))?.[1];
}

const hidden: ReadonlySet<string> = new Set(['.git', 'node_modules', '.DS_Store']);
const maxItems = 200;

/** Returns completions of a path: the entries of its directory, with a slash after directories. */
export function pathItems(typed: string, folder: string): MenuItem[] {
  const parent = typed.endsWith('/') ? typed : dirname(typed) === '.' ? '' : `${dirname(typed)}/`;
  const prefix = typed.endsWith('/') ? '' : basename(typed);
  try {
    const entries = readdirSync(resolve(folder, parent || '.'), { withFileTypes: true });
    return entries
      .filter(({ name }) => !hidden.has(name) && name.toLowerCase().startsWith(prefix.toLowerCase()))
      .filter(({ name }) => prefix.startsWith('.') || !name.startsWith('.'))
      .sort(
        (left, right) =>
          Number(right.isDirectory()) - Number(left.isDirectory()) || (left.name < right.name ? -1 : 1),
      )
      .slice(0, maxItems)
      .map((entry) => ({ name: join(parent, entry.name) + (entry.isDirectory() ? '/' : '') }));
  } catch {
    return [];
  }
}

/** Returns whether a path is that of a file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
