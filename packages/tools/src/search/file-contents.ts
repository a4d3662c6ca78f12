import { AgentError } from '@cobbler/agent';
import type { OpenFile, Workspace } from '@cobbler/agent/node';
import { bytesUpTo } from '../workspace/file-bytes.ts';
import { compileGlob } from '../workspace/glob.ts';
import { walk } from '../workspace/walk.ts';

/** Maximum size of a file that is searched. Larger files are usually data. */
export const maxFileBytes = 5_242_880;

/** Number of files read at the same time; this many files of the maximum size must fit in memory. */
const filesAtOnce = 8;

/** The files to search. */
export interface SearchScope {
  /** A directory or file, relative to the workspace. Default: the whole workspace. */
  readonly path?: string;
  /** A glob that files must match. */
  readonly glob?: string;
  /** True to include files that git ignores. */
  readonly include_ignored?: boolean;
}

/** A file to search. */
export interface FileContent {
  readonly name: string;
  /** Undefined if the file is too large. */
  readonly bytes: Buffer | undefined;
}

/** Returns the content of the files to search, in batches. A file given by its path is included even if git ignores it. */
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
          // The file was deleted after it was listed, or cannot be read: there is nothing to search.
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
