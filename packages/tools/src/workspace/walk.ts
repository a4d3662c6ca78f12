import type { Dirent } from 'node:fs';
import type { HeldDirectory, Workspace } from '@cobbler/agent/node';
import { bytesUpTo } from './file-bytes.ts';
import { throwIfStopped } from './file-tool.ts';
import { IgnoreRules } from './ignore-rules.ts';

export interface WalkOptions {
  /** Also what git ignores. Never what is in `.git`, and never what is sealed. */
  readonly includeIgnored?: boolean;
  readonly signal?: AbortSignal;
}

/** One file, folder or link that was found. */
export interface WalkEntry {
  /** Relative to the workspace. */
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** A folder and what is in it, by name. */
export interface WalkedFolder {
  /** Held until the next folder is asked for. */
  readonly directory: HeldDirectory;
  readonly entries: readonly WalkEntry[];
}

/** Deeper nesting is not a real project, and every level needs a descriptor. */
const maxDepth = 64;

const maxIgnoreBytes = 1_048_576;

/**
 * A folder and all folders below it, each before those in it, by name. Symbolic links are shown, not
 * followed. A folder that git ignores is walked as a whole when the walk begins in it.
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
  const rules = hasOwn ? await withOwn(workspace, directory, prefix, at.rules) : at.rules;
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
    // A folder that cannot be opened has been shown; what is in it stays unknown.
    const child = await directory.directory(name).catch(() => undefined);
    if (child === undefined) continue;
    try {
      yield* visit(child, { prefix: path, rules: rules.inside(path), depth: depth + 1, workspace, options });
    } finally {
      await child.close();
    }
  }
}

/** The order of whole paths: a folder counts with the `/` that follows its name. */
export function byPath(left: WalkEntry, right: WalkEntry): number {
  const [a, b] = [left, right].map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path));
  if (a === b) return 0;
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

/** The rules that hold in a folder before its own .gitignore is read. */
async function rulesAbove(workspace: Workspace, folder: string): Promise<IgnoreRules> {
  let rules = IgnoreRules.standard;
  let above = '';
  for (const name of folder.split('/').filter(Boolean)) {
    const directory = await workspace.openDirectory(above === '' ? '.' : above);
    try {
      rules = await withOwn(workspace, directory, above, rules);
    } finally {
      await directory.close();
    }
    above = above === '' ? name : `${above}/${name}`;
    if (rules.ignores(above, true)) return IgnoreRules.none;
    rules = rules.inside(above);
  }
  return rules;
}

async function withOwn(
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
    // No such file, or none that can be read: it ignores nothing.
    return rules;
  }
}

function kindOf(entry: Dirent): WalkEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
