import { AgentError } from '@cobbler/agent';
import type { OpenFile, Workspace } from '@cobbler/agent/node';
import { bytesUpTo } from '../workspace/file-bytes.ts';
import { compileGlob } from '../workspace/glob.ts';
import { walk } from '../workspace/walk.ts';

/** Larger files are data, not text that people read. */
export const maxFileBytes = 5_242_880;

/** Read side by side; as many of the largest have to fit into memory. */
const filesAtOnce = 8;

/** Which files are searched. */
export interface SearchScope {
  /** A folder or file, relative to the workspace. Default: all of it. */
  readonly path?: string;
  /** A glob that files must match. */
  readonly glob?: string;
  /** Also what git ignores. */
  readonly include_ignored?: boolean;
}

/** A file to search. */
export interface FileContent {
  readonly name: string;
  /** Absent for a file that is too large. */
  readonly bytes: Buffer | undefined;
}

/**
 * The content of the files to search, some at a time. A file named by its path is taken whether git ignores
 * it or not.
 */
export async function* batchesOf(
  workspace: Workspace,
  scope: SearchScope,
  signal: AbortSignal,
): AsyncGenerator<FileContent[]> {
  const path = scope.path ?? '.';
  const start = await workspace.locate(path);
  const single = await fileAt(workspace, path);
  if (single !== undefined) {
    yield [await contentOf(single)];
    return;
  }
  const prefix = start === '.' ? '' : `${start}/`;
  const isWanted = scope.glob === undefined ? () => true : compileGlob(scope.glob);
  for await (const folder of walk(workspace, path, {
    signal,
    includeIgnored: scope.include_ignored === true,
  })) {
    const files = folder.entries.filter((entry) => {
      return entry.kind === 'file' && (isWanted(entry.path) || isWanted(entry.path.slice(prefix.length)));
    });
    for (let at = 0; at < files.length; at += filesAtOnce) {
      const batch = files.slice(at, at + filesAtOnce).map(async (entry) => {
        try {
          return [await contentOf(await workspace.openEntry(folder.directory, entry.name, entry.path))];
        } catch {
          // Gone since it was listed, or not to be read: there is nothing to search.
          return [];
        }
      });
      yield (await Promise.all(batch)).flat();
    }
  }
}

async function fileAt(workspace: Workspace, path: string): Promise<OpenFile | undefined> {
  try {
    return await workspace.openFile(path);
  } catch (error) {
    if (AgentError.is(error) && error.code === 'is_directory') return undefined;
    throw error;
  }
}

async function contentOf(file: OpenFile): Promise<FileContent> {
  try {
    return { name: file.name, bytes: await bytesUpTo(file, maxFileBytes) };
  } finally {
    await file.handle.close();
  }
}
