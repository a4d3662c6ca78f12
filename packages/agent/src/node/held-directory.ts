import type { Dirent, Stats } from 'node:fs';
import { constants, existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { access, lstat, mkdir, open, readdir, readlink, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Windows lacks these flags; 0 leaves them out. */
const noFollow = constants.O_NOFOLLOW ?? 0;
const directoryOnly = constants.O_DIRECTORY ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/**
 * Number of checks that an opened file is still the named one. With one check, a program that swaps the directory all
 * the time succeeded once in about 5,000 attempts; each further check must be deceived in the same way.
 */
const checkRounds = 3;

/** The way to access the entries of a held directory: through its open descriptor or by its path. */
export type Anchor = 'descriptor' | 'path';

/** On Linux, /proc shows every open descriptor as a path; a directory accessed that way cannot be swapped. */
export const defaultAnchor: Anchor = existsSync('/proc/self/fd') ? 'descriptor' : 'path';

/**
 * A directory that is kept open, so that operations on its entries affect this directory even if its path later refers
 * to a different one.
 *
 * Invariants: a name is one component of a path, never `..`; no operation follows a symbolic link. Where descriptors
 * cannot be used as paths (anchor `path`), each operation checks before or after that the real path is still the one
 * that was opened: a swap is detected, not prevented. Only a program that swaps the directory back and forth in step
 * with every check is not detected. An empty file or directory may have been created elsewhere in both cases.
 */
export class HeldDirectory {
  /** The real path at the time of opening. Never shown to a model. */
  readonly real: string;
  readonly #handle: FileHandle | undefined;

  private constructor(real: string, handle: FileHandle | undefined) {
    this.real = real;
    this.#handle = handle;
  }

  /**
   * Opens a directory by its real path.
   * @throws the system's error; ENOTDIR, ELOOP or ESTALE if the path now refers to something else.
   */
  static async open(real: string, anchor: Anchor): Promise<HeldDirectory> {
    if (anchor === 'path') {
      const held = new HeldDirectory(real, undefined);
      await held.#check();
      if (!(await lstat(real)).isDirectory()) throw failure('ENOTDIR', 'The path is not a directory.');
      return held;
    }
    const handle = await open(real, constants.O_RDONLY | directoryOnly | noFollow);
    try {
      return new HeldDirectory(await readlink(`/proc/self/fd/${handle.fd}`), handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Opens a subdirectory. */
  async directory(name: string): Promise<HeldDirectory> {
    if (this.#handle === undefined) await this.#check();
    return await HeldDirectory.open(this.#at(name), this.#handle === undefined ? 'path' : 'descriptor');
  }

  /**
   * Opens an existing file for reading. Does not wait for a writer if the file is a FIFO.
   * @throws the system's error; ELOOP for a symbolic link.
   */
  async file(name: string): Promise<FileHandle> {
    return await this.#checked(await open(this.#at(name), constants.O_RDONLY | noFollow | nonBlocking), name);
  }

  /** Creates a file that must not exist yet. */
  async create(name: string, mode: number): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;
    return await this.#checked(await open(this.#at(name), flags, mode), name);
  }

  async entries(): Promise<Dirent[]> {
    const entries = await readdir(this.#at('.'), { withFileTypes: true });
    if (this.#handle === undefined) await this.#check();
    return entries;
  }

  /** Returns the stats of an entry, without following a symbolic link; undefined if it does not exist. */
  async stat(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.#at(name));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Creates a directory unless it exists. */
  async makeDirectory(name: string): Promise<void> {
    if (this.#handle === undefined) await this.#check();
    await mkdir(this.#at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }

  /** @throws the system's error if this process may not write to the file. */
  async mayWrite(name: string): Promise<void> {
    await access(this.#at(name), constants.W_OK);
  }

  /** Moves one entry atomically to the name of another, which it replaces if that exists. */
  async replace(from: string, to: string): Promise<void> {
    if (this.#handle === undefined) await this.#check();
    await rename(this.#at(from), this.#at(to));
  }

  async remove(name: string): Promise<void> {
    await rm(this.#at(name), { force: true });
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  #at(name: string): string {
    return this.#handle === undefined ? join(this.real, name) : `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  async #check(): Promise<void> {
    if ((await realpath(this.real)) !== this.real) throw movedError();
  }

  async #checked(handle: FileHandle, name: string): Promise<FileHandle> {
    try {
      if (this.#handle === undefined) await this.#same(handle, name);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Checks that the file was opened in this directory. Repeated, because a swap can be undone for a single check. */
  async #same(handle: FileHandle, name: string): Promise<void> {
    const opened = await handle.stat();
    for (let round = 0; round < checkRounds; round += 1) {
      await this.#check();
      const named = await this.stat(name);
      if (opened.dev !== named?.dev || opened.ino !== named.ino) throw movedError();
    }
    await this.#check();
  }
}

/** Returns true for the system's errors that mean that a path does not exist. */
export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function movedError(): NodeJS.ErrnoException {
  return failure('ESTALE', 'The directory was replaced while it was in use.');
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
