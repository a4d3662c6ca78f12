import type { Stats } from 'node:fs';
import type { PlannedChange, Tool } from '@cobbler/agent';
import { AgentError, toolOutput } from '@cobbler/agent';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import type { TextFile } from './workspace/file-bytes.ts';
import { contentOf, counted, lineCount, readTextFile, sizeOf } from './workspace/file-bytes.ts';
import { agentFiles, fileTool, requireApproved, throwIfStopped } from './workspace/file-tool.ts';
import type { Change } from './workspace/unified-diff.ts';
import { changeOf } from './workspace/unified-diff.ts';

/** Arguments of write_file. */
export interface WriteFileArgs {
  /** Path relative to the workspace. */
  readonly path: string;
  /** The complete new content. */
  readonly content: string;
}

/** Maximum number of bytes of a file that is compared; larger files are replaced without a diff. */
const maxComparedBytes = 2_000_000;

/** Writes a complete file in one step, and creates missing directories. */
export function writeFile(workspace: Workspace): Tool {
  return fileTool<WriteFileArgs>(workspace, {
    name: 'write_file',
    description:
      'Writes a whole text file in the workspace and creates the directories it needs. Replaces an existing file; ' +
      'to change parts of a file, use edit_file.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
        content: { type: 'string', description: 'The complete new content.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    effect: 'idempotent',
    locks: ['workspace'],
    pathOf: ({ path }) => path,
    subject: ({ path }) => workspace.subject(path),
    mustAsk: ({ path }) => workspace.mustAsk(path, agentFiles),
    async preview({ path, content }, context) {
      const { change, planned } = await changeTo(workspace, path, content, context?.earlier);
      return { ...change, changes: [planned] };
    },
    async execute({ path, content }, { signal, approved }) {
      const { change, planned, unchangedSince } = await changeTo(workspace, path, content);
      requireApproved(path, planned, approved);
      throwIfStopped(signal);
      const target = approved && planned.target;
      const { created } = await workspace.write(path, content, approved && { unchangedSince, target });
      const size = `${counted(lineCount(content), 'line')}, ${sizeOf(Buffer.byteLength(content))}`;
      const what = created ? 'Created' : 'Replaced';
      return toolOutput({ content: `${what} ${quotePath(path)} (${size}).`, ...change });
    },
  });
}

interface WriteResult {
  readonly change: Change;
  readonly planned: PlannedChange;
  readonly unchangedSince: Stats | 'absent' | undefined;
}

async function changeTo(
  workspace: Workspace,
  path: string,
  content: string,
  earlier: readonly PlannedChange[] = [],
): Promise<WriteResult> {
  let file: TextFile | undefined;
  try {
    file = await readTextFile(workspace, path, maxComparedBytes, earlier);
  } catch (error) {
    if (AgentError.is(error) && error.code === 'unsuited') return await replacing(workspace, path, content);
    if (!AgentError.is(error) || error.code !== 'not_found') throw error;
  }
  const target = file?.name ?? workspace.subject(path);
  const before = file && contentOf(file);
  return {
    change: await changeOf(target, before, content),
    planned: { target, before, after: content },
    unchangedSince: file === undefined ? 'absent' : file.stat,
  };
}

/** Returns the change of a file whose content is not read, because it is binary or too long. Its size and time represent it. */
async function replacing(workspace: Workspace, path: string, content: string): Promise<WriteResult> {
  const { handle, stat, name } = await workspace.openFile(path);
  await handle.close();
  const before = `${stat.size} bytes, changed at ${stat.mtimeMs}`;
  const change = { summary: `+${lineCount(content)}` };
  return { change, planned: { target: name, before, after: content }, unchangedSince: stat };
}
