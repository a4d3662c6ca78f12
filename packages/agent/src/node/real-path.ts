import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants, realpathSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { AgentError } from '../values/errors.ts';
import type { Anchor } from './held-directory.ts';
import { defaultAnchor, HeldDirectory, isMissing } from './held-directory.ts';
import { hasLink, ProtectedPaths, realAsFar } from './protected-paths.ts';

/** A regular file of the workspace, open for reading. The caller closes it. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly stat: Stats;
  /** Its real path, relative to the workspace. */
  readonly name: string;
}

/** How a workspace is guarded. */
export interface WorkspaceOptions {
  /** Default: by descriptor where the system can do that. */
  readonly anchor?: Anchor;
  /** Says where the home folders are whose keys are sealed. Default: the environment of this process. */
  readonly env?: Environment;
}

/** Conditions of a write. */
export interface WriteOptions {
  /** What the file was when it was read: a file that has changed since is not written. */
  readonly unchangedSince?: Stats;
}

/** Where a path leads: the real path of the part that exists, and the names that do not exist yet. */
interface ResolvedPath {
  readonly base: string;
  readonly missing: readonly string[];
}

/**
 * One directory that a model may work in. Every path is resolved to its real path at the time of use, and
 * what was opened is checked again, so that neither `..` nor an absolute path nor a symbolic link, even one
 * put there in between, leads outside. Hard links cannot be told from files and count as inside; writing
 * replaces the name and so never reaches through one.
 *
 * Keys and Cobbler's own files are sealed: nothing here opens them, also when they lie in the directory.
 *
 * All errors are AgentError of kind `tool` with a stable code (`outside`, `sealed`, `not_found`, `is_directory`,
 * `not_directory`, `special`, `denied`, `changed`, `io`); they name a path as it was given, never a real one.
 */
export class Workspace {
  /** The real path of the directory, fixed when the object is made. */
  readonly root: string;
  readonly #anchor: Anchor;
  readonly #protected: ProtectedPaths;

  /** @throws AgentError `invalid` when `root` is not a folder. */
  constructor(root: string, options: WorkspaceOptions = {}) {
    this.#anchor = options.anchor ?? defaultAnchor;
    try {
      this.root = realpathSync.native(root);
      if (!statSync(this.root).isDirectory()) throw new Error('not a directory');
    } catch {
      throw new AgentError({
        kind: 'invalid',
        code: 'workspace',
        message: `The workspace ${quotePath(root)} is not a folder that can be used. Give one that exists.`,
      });
    }
    this.#protected = new ProtectedPaths(this.root, options.env ?? process.env);
  }

  /**
   * Why a person has to look at a write, in words: other programs run or obey what is written there. Nothing for an
   * ordinary file, and for a path that a write refuses anyway.
   * @param names further names of such files and folders, in lower case.
   */
  mustAsk(path: string, names: readonly string[] = []): string | undefined {
    const real = this.#realPath(path);
    if (real === undefined || !this.#contains(real)) return undefined;
    const guard = this.#protected.guardIn(real, names);
    if (guard === undefined) return undefined;
    const [file, part] = [quotePath(this.#name(real)), quotePath(guard)];
    return `${file} is protected: other programs run or obey what is written to ${part}.`;
  }

  /** Whether a path leads to what is sealed, also outside, or at least outside; `unusable`: to no known place. */
  refusalOf(path: string): 'sealed' | 'outside' | 'unusable' | undefined {
    const real = this.#realPath(path);
    if (real === undefined) return 'unusable';
    if (this.#protected.isSealed(real)) return 'sealed';
    return this.#contains(real) ? undefined : 'outside';
  }

  /** Whether a path, inside the workspace or outside, leads to a folder that contains what is sealed by its place. */
  holdsSealed(path: string): boolean {
    const real = this.#realPath(path);
    return real !== undefined && this.#protected.holdsSealed(real);
  }

  /** Whether a real path, relative to the workspace, is one that nothing here opens. Does not look at the disk. */
  isSealed(name: string): boolean {
    return this.#protected.isSealed(join(this.root, name));
  }

  /**
   * The path for people and permission rules: real and relative to the workspace as far as it exists, `.`
   * for the workspace itself, and unchanged when it leads outside or cannot be used.
   */
  subject(path: string): string {
    const real = this.#realPath(path);
    return real !== undefined && this.#contains(real) ? this.#name(real) : path;
  }

  /** The real path of an existing directory, for a child process to start in. */
  async directory(path: string): Promise<string> {
    const held = await this.openDirectory(path);
    await held.close();
    return held.real;
  }

  /** Opens an existing directory. The caller closes it. */
  async openDirectory(path: string): Promise<HeldDirectory> {
    const { base, missing } = await this.#find(path);
    if (missing.length > 0) throw notFound(path);
    return await this.#hold(base, path);
  }

  /** The path of an existing file or directory, real and relative to the workspace. */
  async locate(path: string): Promise<string> {
    const { base, missing } = await this.#find(path);
    if (missing.length > 0) throw notFound(path);
    return this.#name(base);
  }

  /** Opens a regular file for reading; a directory, device, socket or FIFO is refused without waiting. */
  async openFile(path: string): Promise<OpenFile> {
    const { base, missing } = await this.#find(path);
    if (missing.length > 0) throw notFound(path);
    if (base === this.root) throw isDirectory(path);
    const name = basename(base);
    const parent = await this.#hold(dirname(base), path);
    try {
      // To open a device can be an act in itself, so look first.
      requireFile(await parent.stat(name), path);
      return await this.openEntry(parent, name, path);
    } catch (error) {
      throw fileError(error, path);
    } finally {
      await parent.close();
    }
  }

  /** Opens a regular file that was found in a held directory. `path` is what errors call it. */
  async openEntry(parent: HeldDirectory, name: string, path: string): Promise<OpenFile> {
    try {
      const handle = await parent.file(name);
      try {
        const stat = await handle.stat();
        requireFile(stat, path);
        if (this.#protected.isSealed(join(parent.real, name))) throw sealed(path);
        return { handle, stat, name: this.#name(join(parent.real, name)) };
      } catch (error) {
        await handle.close();
        throw error;
      }
    } catch (error) {
      throw fileError(error, path);
    }
  }

  /**
   * Writes a whole file in one step: readers see the old content or the new, never a part. Creates missing
   * directories, keeps the permissions of a file that is replaced, follows a symbolic link to its target.
   * @returns whether the file is new.
   */
  async write(
    path: string,
    content: string | Uint8Array,
    options: WriteOptions = {},
  ): Promise<{ created: boolean }> {
    const { base, missing } = await this.#find(path);
    if (base === this.root && missing.length === 0) throw isDirectory(path);
    const isNew = missing.length > 0;
    const name = missing.at(-1) ?? basename(base);
    let parent = await this.#hold(isNew ? base : dirname(base), path);
    try {
      for (const folder of missing.slice(0, -1)) {
        const above = parent;
        await above.makeDirectory(folder);
        parent = await above.directory(folder);
        await above.close();
      }
      return await this.#replace(parent, name, content, { path, ...options });
    } catch (error) {
      throw fileError(error, path);
    } finally {
      await parent.close();
    }
  }

  async #replace(
    parent: HeldDirectory,
    name: string,
    content: string | Uint8Array,
    options: WriteOptions & { readonly path: string },
  ): Promise<{ created: boolean }> {
    const before = await parent.stat(name);
    const { path, unchangedSince } = options;
    if (before !== undefined) {
      requireFile(before, path);
      await parent.mayWrite(name);
    }
    if (unchangedSince !== undefined && !isSameVersion(before, unchangedSince)) throw changed(path);
    const draft = `.cobbler-${randomUUID()}.tmp`;
    const handle = await parent.create(draft, before === undefined ? 0o666 : 0o600);
    try {
      try {
        await handle.writeFile(content);
        if (before !== undefined) await adopt(handle, before);
      } finally {
        await handle.close();
      }
      await parent.replace(draft, name);
    } catch (error) {
      await parent.remove(draft);
      throw error;
    }
    return { created: before === undefined };
  }

  async #hold(real: string, path: string): Promise<HeldDirectory> {
    let held: HeldDirectory;
    try {
      held = await HeldDirectory.open(real, this.#anchor);
    } catch (error) {
      throw fileError(error, path);
    }
    const isInside = this.#contains(held.real);
    if (isInside && !this.#protected.isSealed(held.real)) return held;
    await held.close();
    throw isInside ? sealed(path) : outside(path);
  }

  /** Nothing is told about what lies outside, not even whether it exists. */
  async #find(path: string): Promise<ResolvedPath> {
    const unusable = unusablePath(path);
    if (unusable !== undefined) throw problem('not_found', unusable);
    const missing: string[] = [];
    let failure: unknown;
    for (let at = resolve(this.root, path); ; at = dirname(at)) {
      try {
        const base = await realpath(at);
        if (!this.#contains(base)) throw outside(path);
        if (this.#protected.isSealed(join(base, ...missing))) throw sealed(path);
        if (failure !== undefined && !isMissing(failure)) throw fileError(failure, path);
        return { base, missing };
      } catch (error) {
        if (AgentError.is(error) || dirname(at) === at) throw fileError(error, path);
        if (await isLink(at)) throw problem('outside', deadLink(path));
        failure ??= error;
        missing.unshift(basename(at));
      }
    }
  }

  /** The real path as far as it exists; nothing for a path that cannot be used or ends at a dead link. */
  #realPath(path: string): string | undefined {
    if (unusablePath(path) !== undefined) return undefined;
    const real = realAsFar(resolve(this.root, path));
    return hasLink(real) ? undefined : real;
  }

  #contains(real: string): boolean {
    return real === this.root || real.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep);
  }

  #name(real: string): string {
    return relative(this.root, real).split(sep).join('/') || '.';
  }
}

/**
 * Turns an error of the file system into one that names the path as it was given; the system's own text
 * holds real paths. Errors made for the model pass unchanged.
 */
export function fileError(error: unknown, path: string): AgentError {
  if (AgentError.is(error)) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const name = quotePath(path);
  switch (code) {
    case 'ENOENT':
      return notFound(path);
    case 'ENOTDIR':
      return problem('not_directory', `${name} is not a folder, or its path goes through a file.`);
    case 'EISDIR':
      return isDirectory(path);
    case 'EACCES':
    case 'EPERM':
      return problem('denied', `${name}: permission denied.`);
    case 'EROFS':
      return problem('denied', `${name} is on a read-only file system.`);
    case 'ELOOP':
    case 'ESTALE':
      return problem('changed', `${name} was replaced while it was in use, or its links lead in a circle.`);
    case 'ENAMETOOLONG':
      return problem('not_found', tooLong(path));
    case 'ENOSPC':
    case 'EDQUOT':
      return problem('io', `${name} could not be written: the disk is full.`);
    default:
      return problem('io', `${name} could not be used${code === undefined ? '' : ` (${code})`}.`);
  }
}

/** A path as text on one line, in quotes, however odd its characters are. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}

/** Gives a file the permissions of another and, where that is allowed, its owner. */
async function adopt(handle: FileHandle, like: Stats): Promise<void> {
  if (like.uid !== process.getuid?.()) await handle.chown(like.uid, like.gid).catch(() => {});
  await handle.chmod(like.mode & 0o777);
}

function requireFile(stat: Stats | undefined, path: string): void {
  if (stat === undefined) throw notFound(path);
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw isDirectory(path);
  if (stat.isSymbolicLink()) throw changed(path);
  const kinds: Record<number, string> = {
    [constants.S_IFIFO]: 'a FIFO',
    [constants.S_IFSOCK]: 'a socket',
    [constants.S_IFCHR]: 'a device',
    [constants.S_IFBLK]: 'a device',
  };
  const kind = kinds[stat.mode & constants.S_IFMT] ?? 'something else';
  throw problem('special', `${quotePath(path)} is not a regular file but ${kind}.`);
}

function isSameVersion(now: Stats | undefined, then: Stats): boolean {
  return now !== undefined && now.ino === then.ino && now.size === then.size && now.mtimeMs === then.mtimeMs;
}

/** Longer ones no system takes, and resolving them name by name would take for ever. */
const maxPathLength = 4096;

function unusablePath(path: string): string | undefined {
  if (path === '') return 'The path is empty.';
  if (path.includes('\0')) return `${quotePath(path)} holds a NUL character, which no path can.`;
  return path.length > maxPathLength ? tooLong(path) : undefined;
}

function tooLong(path: string): string {
  return `${quotePath(path)} is longer than the file system allows.`;
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
}

function deadLink(path: string): string {
  return `${quotePath(path)} goes through a symbolic link that leads to nothing in the workspace.`;
}

function outside(path: string): AgentError {
  return problem(
    'outside',
    `${quotePath(path)} is outside the workspace. Use a path relative to the workspace.`,
  );
}

function sealed(path: string): AgentError {
  return problem(
    'sealed',
    `${quotePath(path)} is sealed: it holds keys or Cobbler's own files. Work without it.`,
  );
}

function notFound(path: string): AgentError {
  return problem('not_found', `${quotePath(path)} does not exist.`);
}

function isDirectory(path: string): AgentError {
  return problem('is_directory', `${quotePath(path)} is a folder, not a file.`);
}

function changed(path: string): AgentError {
  return problem(
    'changed',
    `${quotePath(path)} was changed by another program in the meantime. Read it again.`,
  );
}

function problem(code: string, message: string): AgentError {
  return new AgentError({ kind: 'tool', code, message });
}
