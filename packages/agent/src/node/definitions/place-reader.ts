import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, dirname, relative } from 'node:path';
import { AgentError } from '../../values/errors.ts';
import { defaultAnchor, HeldDirectory } from '../held-directory.ts';
import type { OpenFile } from '../real-path.ts';
import { fileError, Workspace } from '../real-path.ts';

/** Maximum size of a Markdown file in bytes. */
export const maxTextBytes = 262_144;
/** Maximum number of files of one skill, and their maximum size in total. */
const maxFiles = 200;
const maxSkillBytes = 10_485_760;

/** Directories that programs create next to their scripts. */
const ignored = new Set(['.git', '__pycache__', 'node_modules']);

/**
 * Reads the files of a project without following a link out of it or opening keys in it. Without a project, it reads the
 * files of the user, who can link to anything.
 */
export class PlaceReader {
  readonly #workspace: Workspace | undefined;

  constructor(project: string | undefined) {
    this.#workspace = project === undefined ? undefined : new Workspace(project);
  }

  /** Returns a whole file. @throws AgentError `tool` if it is larger than `maxBytes` or cannot be read. */
  async bytes(path: string, maxBytes: number): Promise<Buffer> {
    const { handle, stat } = await this.#open(path);
    try {
      if (stat.isFile() && stat.size <= maxBytes) return await handle.readFile();
      const message = stat.isFile() ? `it is larger than ${maxBytes} bytes` : 'it is not a regular file';
      throw new AgentError({ kind: 'tool', code: 'special', message });
    } finally {
      await handle.close();
    }
  }

  /** Returns the names in a directory in their order; none if it cannot be read. */
  async names(folder: string): Promise<string[]> {
    const held = await this.#directory(folder).catch(() => undefined);
    if (held === undefined) return [];
    try {
      return (await held.entries()).map(({ name }) => name).sort();
    } finally {
      await held.close();
    }
  }

  /** Returns the paths of the files below a directory, without links. Undefined if there are too many. */
  async walk(folder: string): Promise<string[] | undefined> {
    const files: string[] = [];
    const visit = async (held: HeldDirectory, prefix: string, depth: number): Promise<void> => {
      try {
        for (const entry of await held.entries()) {
          if (files.length > maxFiles) return;
          if (entry.isFile()) files.push(prefix + entry.name);
          else if (entry.isDirectory() && !ignored.has(entry.name) && depth < 8)
            await visit(await held.directory(entry.name), `${prefix}${entry.name}/`, depth + 1);
        }
      } finally {
        await held.close();
      }
    };
    await visit(await this.#directory(folder), '', 0);
    return files.length > maxFiles ? undefined : files.sort();
  }

  /** Returns the SHA-256 of each of these files. Undefined if they are too large in total. */
  async digests(folder: string, files: readonly string[]): Promise<Record<string, string> | undefined> {
    const digests: [string, string][] = [];
    let room = maxSkillBytes;
    for (const file of files) {
      const bytes = await this.bytes(`${folder}/${file}`, maxSkillBytes);
      room -= bytes.length;
      if (room < 0) return undefined;
      digests.push([file, sha256(bytes)]);
    }
    return Object.fromEntries(digests);
  }

  async #open(path: string): Promise<Pick<OpenFile, 'handle' | 'stat'>> {
    if (this.#workspace !== undefined)
      return await this.#workspace.openFile(relative(this.#workspace.root, path));
    try {
      const real = await realpath(path);
      const held = await HeldDirectory.open(dirname(real), defaultAnchor);
      try {
        const handle = await held.file(basename(real));
        return { handle, stat: await handle.stat() };
      } finally {
        await held.close();
      }
    } catch (error) {
      throw fileError(error, path);
    }
  }

  async #directory(path: string): Promise<HeldDirectory> {
    if (this.#workspace !== undefined)
      return await this.#workspace.openDirectory(relative(this.#workspace.root, path) || '.');
    return await HeldDirectory.open(await realpath(path), defaultAnchor);
  }
}

/** Returns a SHA-256 in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
