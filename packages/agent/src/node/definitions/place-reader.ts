import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { AgentError } from '../../values/errors.ts';
import { defaultAnchor, HeldDirectory } from '../held-directory.ts';
import type { OpenFile } from '../real-path.ts';
import { Workspace } from '../real-path.ts';

/** Maximum size of a Markdown file in bytes. */
export const maxTextBytes = 262_144;

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

  /** Returns a whole file. */
  async bytes(path: string, maxBytes: number): Promise<Buffer> {
    const { handle, stat } = await this.#file(path);
    try {
      if (stat.isFile() && stat.size <= maxBytes) return await handle.readFile();
      const message = stat.isFile() ? `it is larger than ${maxBytes} bytes` : 'it is not a regular file';
      throw new AgentError({ kind: 'tool', code: 'special', message });
    } finally {
      await handle.close();
    }
  }

  /** Returns the sorted paths of the files below a directory, without links; at most `max` and some more. */
  async walk(path: string, max: number): Promise<string[]> {
    const files: string[] = [];
    const visit = async (held: HeldDirectory, prefix: string): Promise<void> => {
      try {
        for (const entry of await held.entries()) {
          if (entry.isFile()) files.push(prefix + entry.name);
          if (files.length > max || !entry.isDirectory() || ignored.has(entry.name)) continue;
          await visit(await held.directory(entry.name), `${prefix}${entry.name}/`);
        }
      } finally {
        await held.close();
      }
    };
    await visit(await this.#directory(path), '');
    return files.sort();
  }

  async #file(path: string): Promise<Pick<OpenFile, 'handle' | 'stat'>> {
    const workspace = this.#workspace;
    if (workspace !== undefined) return await workspace.openFile(relative(workspace.root, path));
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    return { handle, stat: await handle.stat() };
  }

  async #directory(path: string): Promise<HeldDirectory> {
    const workspace = this.#workspace;
    if (workspace !== undefined) return await workspace.openDirectory(relative(workspace.root, path));
    return await HeldDirectory.open(await realpath(path), defaultAnchor);
  }
}
