import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isGuardedName } from '../protected-paths.ts';

/** Maximum number of directories that are searched, nearest to the workspace first. */
const maxDirectories = 1000;

/** Directories whose files no program obeys: packages and build output. */
const skipped: ReadonlySet<string> = new Set(['node_modules', '.venv', 'venv', 'target', '__pycache__']);

/** A file or directory that other programs execute or obey, or a symbolic link to one. */
export interface GuardedFile {
  readonly path: string;
  /** The target of a symbolic link. */
  readonly link?: string;
}

/** What a directory contains. Valid as long as the directory has not changed. */
interface Listing {
  readonly changedMs: number;
  readonly guarded: readonly GuardedFile[];
  readonly directories: readonly string[];
}

/** The guarded files of a workspace. Remembers directories that do not change between commands. */
export class GuardedFiles {
  readonly #root: string;
  readonly #more: ReadonlySet<string>;
  readonly #known: Map<string, Listing> = new Map();

  /** @param more additional guarded names, in lower case. */
  constructor(root: string, more: readonly string[]) {
    this.#root = root;
    this.#more = new Set(more);
  }

  /**
   * Finds the guarded files. Does not follow symbolic links.
   * @param now the time of the file system, in milliseconds.
   */
  find(now: number): GuardedFile[] {
    const found: GuardedFile[] = [];
    const directories = [this.#root];
    for (let index = 0; index < directories.length && index < maxDirectories; index += 1) {
      const listing = this.#list(directories[index] ?? this.#root, now);
      found.push(...listing.guarded);
      directories.push(...listing.directories);
    }
    return found;
  }

  /**
   * Undoes what a program did to guarded files that could not be protected while it ran: those that did not exist are
   * renamed, and symbolic links get their targets back. Returns what it did, in words.
   * @param since when the program started: files that were last changed before are left alone.
   */
  undo(before: readonly GuardedFile[], since: number): string[] {
    const known = new Set(before.map(({ path }) => path));
    // Cobbler writes the user's rules to .cobbler at any time, and rules that the user has not accepted only restrict.
    const isOurs = (path: string) => basename(path) === '.cobbler';
    const isNew = (path: string) => !known.has(path) && !isOurs(path) && (lstat(path)?.ctimeMs ?? 0) >= since;
    const fresh = this.find(since).filter(({ path }) => isNew(path));
    const replaced = before.filter(({ path, link }) => link !== undefined && linkOf(path) !== link);
    return [
      ...fresh.flatMap(({ path }) => block(this.#root, path)),
      ...replaced.flatMap(({ path, link = '' }) => restore(this.#root, path, link)),
    ];
  }

  #list(directory: string, now: number): Listing {
    const changedMs = lstat(directory)?.ctimeMs ?? 0;
    const known = this.#known.get(directory);
    // The change time, unlike the modification time, cannot be set, but it has a resolution of some milliseconds.
    if (known?.changedMs === changedMs && changedMs < now - 1000) return known;
    const listing = { changedMs, ...contentOf(directory, this.#more) };
    this.#known.set(directory, listing);
    return listing;
  }
}

function contentOf(directory: string, more: ReadonlySet<string>): Omit<Listing, 'changedMs'> {
  const entries = entriesOf(directory);
  const has = (name: string) => entries.some((entry) => entry.name === name);
  // Git treats a directory with these names as a repository, whose configuration can name programs.
  const isRepository = has('HEAD') && has('objects') && has('refs');
  const guarded = entries.filter(({ name }) => isGuardedName(name, more));
  const inside = entries.filter((entry) => entry.isDirectory() && !skipped.has(entry.name));
  return {
    guarded: [
      ...(isRepository ? [{ path: join(directory, 'HEAD') }] : []),
      ...guarded.map((entry) => guardedFile(join(directory, entry.name), entry)),
    ],
    directories: inside.filter((one) => !guarded.includes(one)).map(({ name }) => join(directory, name)),
  };
}

/** Renames a file that no program may obey. Returns what it did, in words. */
export function block(root: string, path: string): string[] {
  for (let count = 0; count < 1000; count += 1) {
    const blocked = `${path}.blocked${count === 0 ? '' : count}`;
    if (lstat(blocked) !== undefined) continue;
    renameSync(path, blocked);
    const name = relative(root, path);
    return [
      `${name} is protected and was created by this command, so it was renamed to ${relative(root, blocked)}.`,
    ];
  }
  return [];
}

/** Returns a file and the target of its link; undefined if it does not exist. */
export function fileAt(path: string): GuardedFile | undefined {
  const link = linkOf(path);
  if (link !== undefined) return { path, link };
  return lstat(path) === undefined ? undefined : { path };
}

/** Undoes what a program did to one file, like {@link GuardedFiles.undo}. */
export function undoAt(path: string, before: GuardedFile | undefined): string[] {
  const root = dirname(dirname(path));
  if (before === undefined) return lstat(path) === undefined ? [] : block(root, path);
  const { link } = before;
  return link === undefined || linkOf(path) === link ? [] : restore(root, path, link);
}

function restore(root: string, path: string, link: string): string[] {
  const undone = lstat(path) === undefined ? [] : block(root, path);
  symlinkSync(link, path);
  return [
    ...undone,
    `${relative(root, path)} is protected, so it was restored as a symbolic link to ${link}.`,
  ];
}

function guardedFile(path: string, entry: Dirent): GuardedFile {
  const link = entry.isSymbolicLink() ? linkOf(path) : undefined;
  return link === undefined ? { path } : { path, link };
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function lstat(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
