import type { Tool } from '@cobbler/agent';
import { AgentError, toolOutput } from '@cobbler/agent';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import { counted, lineCount, readTextFile, sizeOf } from './workspace/file-bytes.ts';
import { agentFiles, fileTool, throwIfStopped } from './workspace/file-tool.ts';
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
        content: { type: 'string', description: 'The whole new content.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    effect: 'idempotent',
    locks: ['workspace'],
    pathOf: ({ path }) => path,
    subject: ({ path }) => workspace.subject(path),
    mustAsk: ({ path }) => workspace.mustAsk(path, agentFiles),
    preview: async ({ path, content }) => await changeTo(workspace, path, content),
    async execute({ path, content }, { signal }) {
      const change = await changeTo(workspace, path, content);
      throwIfStopped(signal);
      const { created } = await workspace.write(path, content);
      const size = `${counted(lineCount(content), 'line')}, ${sizeOf(Buffer.byteLength(content))}`;
      const what = created ? 'Created' : 'Replaced';
      return toolOutput({ content: `${what} ${quotePath(path)} (${size}).`, ...change });
    },
  });
}

async function changeTo(workspace: Workspace, path: string, content: string): Promise<Change> {
  try {
    const before = await readTextFile(workspace, path, maxComparedBytes);
    return await changeOf(before.name, (before.hasMark ? '\uFEFF' : '') + before.text, content);
  } catch (error) {
    if (AgentError.is(error) && error.code === 'not_found')
      return await changeOf(workspace.subject(path), undefined, content);
    if (AgentError.is(error) && error.code === 'unsuited') return { summary: `+${lineCount(content)}` };
    throw error;
  }
}
