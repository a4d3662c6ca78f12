import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants, realpathSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { AgentError, withArgumentErrors } from '../values/errors.ts';
import { any, listOf, mapOf, oneOf, optional, read, record, text } from '../values/input.ts';
import { clip } from '../values/json.ts';
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

/** Options of {@link Workspace}. */
export interface WorkspaceOptions {
  /** Default: by descriptor where the system supports it. */
  readonly anchor?: Anchor;
  /** Environment that names the home directories whose keys are sealed. Default: that of this process. */
  readonly env?: Environment;
  /**
   * Guarded paths, relative to the directory, that can be written without approval, with all that is inside them. They
   * are compared with real paths, so a link with such a name allows nothing.
   */
  readonly allowGuarded?: readonly string[];
}

/** Conditions of a write. */
export interface WriteOptions {
  /** Stats of the file when it was read, or `absent`: a file that has changed or appeared since then is not written. */
  readonly unchangedSince?: Stats | 'absent' | undefined;
  /** The real path that the path must have, relative to the workspace; nothing is written elsewhere. */
  readonly target?: string | undefined;
}

/** A resolved path: the real path of the part that exists, and the names that do not exist yet. */
interface ResolvedPath {
  readonly base: string;
  readonly missing: readonly string[];
}

const workspaceOptions = record<WorkspaceOptions>({
  anchor: oneOf('descriptor', 'path'),
  env: mapOf(optional(text)),
  allowGuarded: listOf(text),
});

const writeOptions = record<WriteOptions>({ unchangedSince: any, target: text });

/**
 * A directory that a model may work in. Every path is resolved to its real path at the time of use and checked again
 * after opening, so that neither `..`, an absolute path nor a symbolic link leads outside. A hard link counts as a file
 * inside; a write replaces the name and leaves the linked file unchanged.
 *
 * Keys and Cobbler's own files are sealed: they are never opened, even inside the directory.
 *
 * All errors are AgentError of kind `tool` with a stable code (`outside`, `sealed`, `not_found`, `is_directory`,
 * `not_directory`, `special`, `denied`, `changed`, `io`); they contain the path as given, never a real path.
 */
export class Workspace {
  /** The real path of the directory, resolved in the constructor. */
  readonly root: string;
  readonly #anchor: Anchor;
  readonly #protected: ProtectedPaths;

  /** @throws AgentError `invalid` if `root` is not a directory. */
  constructor(root: string, options: WorkspaceOptions = {}) {
    const { anchor = defaultAnchor, env = process.env, allowGuarded = [] } = read(options, workspaceOptions);
    this.#anchor = anchor;
    try {
      this.root = realpathSync.native(root);
      if (!statSync(this.root).isDirectory()) throw new Error('not a directory');
    } catch {
      const message = `The workspace ${quotePath(root)} is not a usable directory. Specify a directory that exists and is accessible.`;
      throw new AgentError({ kind: 'invalid', code: 'workspace', message });
    }
    this.#protected = new ProtectedPaths(this.root, env, allowGuarded);
  }

  /**
   * Returns why a write requires approval: other programs execute or obey what is written there. Returns undefined for
   * an ordinary file, and for a path that a write refuses.
   * @param names additional guarded names of files and directories, in lower case.
   */
  mustAsk(path: string, names: readonly string[] = []): string | undefined {
    const real = this.#realPath(path);
    if (real === undefined || !this.#contains(real)) return undefined;
    const guard = this.#protected.guardIn(real, read(names, listOf(text), 'names'));
    if (guard === undefined) return undefined;
    const [file, part] = [quotePath(this.#name(real)), quotePath(guard)];
    return `${file} is protected: other programs execute ${part} or take instructions from it.`;
  }

  /** Returns why a path is refused: `sealed` anywhere, `outside` the workspace, or `unusable` if it cannot be resolved. */
  refusalOf(path: string): 'sealed' | 'outside' | 'unusable' | undefined {
    const real = this.#realPath(path);
    if (real === undefined) return 'unusable';
    if (this.#protected.isSealed(real)) return 'sealed';
    return this.#contains(real) ? undefined : 'outside';
  }

  /** Returns whether a path, inside or outside the workspace, is a directory that contains a sealed location. */
  holdsSealed(path: string): boolean {
    const real = this.#realPath(path);
    return real !== undefined && this.#protected.holdsSealed(real);
  }

  /** Returns whether a real path, relative to the workspace, is sealed. Does not access the file system. */
  isSealed(name: string): boolean {
    return this.#protected.isSealed(join(this.root, read(name, text, 'name')));
  }

  /**
   * Returns the path for display and for permission rules: real and relative to the workspace as far as it exists, `.`
   * for the workspace itself, and unchanged if it leads outside or cannot be used.
   */
  subject(path: string): string {
    const real = this.#realPath(path);
    return real !== undefined && this.#contains(real) ? this.#name(real) : path;
  }

  /** Returns the real path of an existing directory, to start a child process in. */
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

  /** Returns the path of an existing file or directory, real and relative to the workspace. */
  async locate(path: string): Promise<string> {
    const { base, missing } = await this.#find(path);
    if (missing.length > 0) throw notFound(path);
    return this.#name(base);
  }

  /** Opens a regular file for reading; refuses a directory, device, socket or FIFO without blocking. */
  async openFile(path: string): Promise<OpenFile> {
    const { base, missing } = await this.#find(path);
    if (missing.length > 0) throw notFound(path);
    if (base === this.root) throw isDirectory(path);
    const name = basename(base);
    const parent = await this.#hold(dirname(base), path);
    try {
      // Opening a device can have side effects, so check first.
      requireFile(await parent.stat(name), path);
      return await this.openEntry(parent, name, path);
    } catch (error) {
      throw fileError(error, path);
    } finally {
      await parent.close();
    }
  }

  /** Opens a regular file found in a held directory. Error messages contain `path`. */
  async openEntry(parent: HeldDirectory, name: string, path: string): Promise<OpenFile> {
    try {
      const handle = await parent.file(name);
      try {
        const stat = await handle.stat();
        requireFile(stat, path);
        if (this.#protected.isSealed(join(parent.real, name))) throw sealedError(path);
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
   * Writes a file atomically: readers see the old content or the new, never a part. Creates missing directories, keeps
   * the permissions of a replaced file, and follows a symbolic link to its target.
   * @returns whether the file is new.
   */
  async write(
    path: string,
    content: string | Uint8Array,
    options: WriteOptions = {},
  ): Promise<{ created: boolean }> {
    const { target, ...given } = read(options, writeOptions, 'options');
    const { base, missing } = await this.#find(path);
    if (base === this.root && missing.length === 0) throw isDirectory(path);
    if (target !== undefined && this.#name(join(base, ...missing)) !== target) throw changedError(path);
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
      return await this.#replace(parent, name, content, { path, ...given });
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
    if (unchangedSince !== undefined && !isSameVersion(before, unchangedSince)) throw changedError(path);
    const temporaryName = `.cobbler-${randomUUID()}.tmp`;
    const handle = await parent.create(temporaryName, before === undefined ? 0o666 : 0o600);
    try {
      try {
        await handle.writeFile(content);
        if (before !== undefined) await adopt(handle, before);
      } finally {
        await handle.close();
      }
      await parent.replace(temporaryName, name);
    } catch (error) {
      await parent.remove(temporaryName);
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
    throw isInside ? sealedError(path) : outside(path);
  }

  /** Reveals nothing about paths outside, not even whether they exist. */
  async #find(path: string): Promise<ResolvedPath> {
    const unusable = unusablePath(path);
    if (unusable !== undefined) throw problem('not_found', unusable);
    const missing: string[] = [];
    let failure: unknown;
    for (let at = resolve(this.root, path); ; at = dirname(at)) {
      try {
        const base = await realpath(at);
        if (!this.#contains(base)) throw outside(path);
        if (this.#protected.isSealed(join(base, ...missing))) throw sealedError(path);
        if (failure !== undefined && !isMissing(failure)) throw fileError(failure, path);
        return { base, missing };
      } catch (error) {
        if (AgentError.is(error) || dirname(at) === at) throw fileError(error, path);
        if (await isLink(at))
          throw problem(
            'outside',
            `${quotePath(path)} contains a symbolic link whose target does not exist in the workspace.`,
          );
        failure ??= error;
        missing.unshift(basename(at));
      }
    }
  }

  /** Returns the real path as far as it exists, or undefined if the path is unusable or ends at a dangling link. */
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

/** Converts a file system error to an AgentError with the path as given: the system's message shows real paths. */
export function fileError(error: unknown, path: string): AgentError {
  return withArgumentErrors('fileError', () => {
    if (AgentError.is(error)) return error;
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    const name = quotePath(path);
    switch (code) {
      case 'ENOENT':
        return notFound(path);
      case 'ENOTDIR':
        return problem('not_directory', `${name} is not a directory, or a part of its path is a file.`);
      case 'EISDIR':
        return isDirectory(path);
      case 'EACCES':
      case 'EPERM':
        return problem('denied', `${name}: permission denied.`);
      case 'EROFS':
        return problem('denied', `${name} is on a read-only file system.`);
      case 'ELOOP':
      case 'ESTALE':
        return problem('changed', `${name} was replaced while in use, or the links in its path form a loop.`);
      case 'ENAMETOOLONG':
        return problem('not_found', tooLong(path));
      case 'ENOSPC':
      case 'EDQUOT':
        return problem('io', `${name} could not be written: the disk is full.`);
      default:
        return problem('io', `${name} could not be used${code === undefined ? '' : ` (${code})`}.`);
    }
  });
}

/** Returns a path as a quoted string on one line, with special characters escaped. */
export function quotePath(path: string): string {
  return withArgumentErrors('quotePath', () => JSON.stringify(clip(path, 300)));
}

/** Sets the permissions of a file, and its owner if allowed, to those of another. */
async function adopt(handle: FileHandle, like: Stats): Promise<void> {
  if (like.uid !== process.getuid?.()) await handle.chown(like.uid, like.gid).catch(() => {});
  await handle.chmod(like.mode & 0o777);
}

function requireFile(stat: Stats | undefined, path: string): void {
  if (stat === undefined) throw notFound(path);
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw isDirectory(path);
  if (stat.isSymbolicLink()) throw changedError(path);
  const kinds: Record<number, string> = {
    [constants.S_IFIFO]: 'a FIFO',
    [constants.S_IFSOCK]: 'a socket',
    [constants.S_IFCHR]: 'a device',
    [constants.S_IFBLK]: 'a device',
  };
  const kind = kinds[stat.mode & constants.S_IFMT] ?? 'something else';
  throw problem('special', `${quotePath(path)} is not a regular file but ${kind}.`);
}

function isSameVersion(now: Stats | undefined, then: Stats | 'absent'): boolean {
  if (then === 'absent') return now === undefined;
  return now !== undefined && now.ino === then.ino && now.size === then.size && now.mtimeMs === then.mtimeMs;
}

/** No system supports longer paths, and resolving one name by name would take too long. */
const maxPathLength = 4096;

function unusablePath(path: string): string | undefined {
  read(path, text, 'path');
  if (path === '') return 'The path is empty.';
  if (path.includes('\0')) return `${quotePath(path)} contains a NUL character, which is not allowed.`;
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

function outside(path: string): AgentError {
  return problem(
    'outside',
    `${quotePath(path)} is outside the workspace. Use a path relative to the workspace.`,
  );
}

function sealedError(path: string): AgentError {
  return problem(
    'sealed',
    `${quotePath(path)} cannot be accessed: it contains keys or Cobbler's own files. Continue without it.`,
  );
}

function notFound(path: string): AgentError {
  return problem('not_found', `${quotePath(path)} does not exist.`);
}

function isDirectory(path: string): AgentError {
  return problem('is_directory', `${quotePath(path)} is a directory, not a file.`);
}

function changedError(path: string): AgentError {
  return problem(
    'changed',
    `${quotePath(path)} was changed by another program in the meantime. Read it again.`,
  );
}

function problem(code: string, message: string): AgentError {
  return new AgentError({ kind: 'tool', code, message });
}
