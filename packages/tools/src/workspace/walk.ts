import type { Dirent } from 'node:fs';
import type { HeldDirectory, Workspace } from '@cobbler/agent/node';
import { bytesUpTo } from './file-bytes.ts';
import { throwIfStopped } from './file-tool.ts';
import { IgnoreRules } from './ignore-rules.ts';

export interface WalkOptions {
  /** True to include files that git ignores. `.git` and sealed files are never included. */
  readonly includeIgnored?: boolean;
  readonly signal?: AbortSignal;
}

/** One file, directory or link. */
export interface WalkEntry {
  /** Path relative to the workspace. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** A directory and its entries, sorted by name. */
export interface WalkedFolder {
  /** Open until the next directory is requested. */
  readonly directory: HeldDirectory;
  readonly entries: readonly WalkEntry[];
}

/** Maximum nesting, because every level needs a file descriptor. */
const maxDepth = 64;

const maxIgnoreBytes = 1_048_576;

/**
 * Walks a directory and all directories below it, parents first and sorted by name. Symbolic links are listed but not
 * followed. A walk that starts in a directory that git ignores includes all of it.
 */
export async function* walk(
  workspace: Workspace,
  path: string,
  options: WalkOptions = {},
): AsyncGenerator<WalkedFolder> {
  const start = await workspace.locate(path);
  const prefix = start === '.' ? '' : start;
  const rules = options.includeIgnored === true ? IgnoreRules.none : await rulesAbove(workspace, prefix);
  const directory = await workspace.openDirectory(path);
  try {
    yield* visit(directory, { prefix, rules, depth: 0, workspace, options });
  } finally {
    await directory.close();
  }
}

interface Visit {
  readonly prefix: string;
  readonly rules: IgnoreRules;
  readonly depth: number;
  readonly workspace: Workspace;
  readonly options: WalkOptions;
}

async function* visit(directory: HeldDirectory, at: Visit): AsyncGenerator<WalkedFolder> {
  const { prefix, depth, workspace, options } = at;
  if (options.signal !== undefined) throwIfStopped(options.signal);
  const found = await directory.entries();
  const hasOwn = at.rules !== IgnoreRules.none && found.some(({ name }) => name === '.gitignore');
  const rules = hasOwn ? await withFolderRules(workspace, directory, prefix, at.rules) : at.rules;
  const entries = found
    .filter(({ name }) => name !== '.git')
    .map((entry): WalkEntry => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      return { path, name: entry.name, kind: kindOf(entry) };
    })
    .filter(({ path, kind }) => !rules.ignores(path, kind === 'folder') && !workspace.isSealed(path))
    .sort(byPath);
  yield { directory, entries };
  if (depth >= maxDepth) return;
  for (const { name, path, kind } of entries) {
    if (kind !== 'folder') continue;
    // A directory that cannot be opened was already listed; its content remains unknown.
    const child = await directory.directory(name).catch(() => undefined);
    if (child === undefined) continue;
    try {
      yield* visit(child, { prefix: path, rules: rules.inside(path), depth: depth + 1, workspace, options });
    } finally {
      await child.close();
    }
  }
}

/** Compares entries in the order of full paths: a directory's name counts with the `/` after it. */
export function byPath(left: WalkEntry, right: WalkEntry): number {
  const [a, b] = [left, right].map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path));
  if (a === b) return 0;
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

/** Returns the rules that apply in a directory before its own .gitignore is read. */
async function rulesAbove(workspace: Workspace, folder: string): Promise<IgnoreRules> {
  let rules = IgnoreRules.standard;
  let above = '';
  for (const name of folder.split('/').filter(Boolean)) {
    const directory = await workspace.openDirectory(above === '' ? '.' : above);
    try {
      rules = await withFolderRules(workspace, directory, above, rules);
    } finally {
      await directory.close();
    }
    above = above === '' ? name : `${above}/${name}`;
    if (rules.ignores(above, true)) return IgnoreRules.none;
    rules = rules.inside(above);
  }
  return rules;
}

async function withFolderRules(
  workspace: Workspace,
  directory: HeldDirectory,
  folder: string,
  rules: IgnoreRules,
): Promise<IgnoreRules> {
  try {
    const file = await workspace.openEntry(directory, '.gitignore', '.gitignore');
    const bytes = await bytesUpTo(file, maxIgnoreBytes).finally(() => file.handle.close());
    return bytes === undefined ? rules : rules.with(folder, bytes.toString('utf8'));
  } catch {
    // The file is missing or cannot be read, so it ignores nothing.
    return rules;
  }
}

function kindOf(entry: Dirent): WalkEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
