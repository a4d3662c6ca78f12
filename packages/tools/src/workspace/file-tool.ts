import { isDeepStrictEqual } from 'node:util';
import type { PlannedChange, PreviewContext, Tool, ToolDefinition } from '@cobbler/agent';
import { AgentError, defineTool } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { read, withMethods } from '@cobbler/agent/input';
import type { Workspace } from '@cobbler/agent/node';
import { fileError, quotePath } from '@cobbler/agent/node';

/** Instruction files of other agents. Writing to them requires approval. */
export const agentFiles: readonly string[] = ['.claude', 'claude.md', 'claude.local.md'];

/** The definition of a tool for one path. */
export interface FileToolDefinition<Args> extends ToolDefinition<Args> {
  /** Returns the path as the model wrote it, for errors. */
  readonly pathOf: (args: Args) => string;
}

/** Reads a workspace. */
export const readWorkspace: Reader<Workspace> = withMethods(
  'subject',
  'mustAsk',
  'directory',
  'locate',
  'openFile',
  'write',
);

/**
 * Creates a tool whose errors show the path as the model wrote it. Error messages of the system, which contain real
 * paths, are never passed on.
 * @throws AgentError `invalid` for a value that is not a workspace.
 */
export function fileTool<Args>(workspace: Workspace, definition: FileToolDefinition<Args>): Tool {
  read(workspace, readWorkspace, 'workspace');
  const { pathOf, execute, preview, ...rest } = definition;
  return defineTool<Args>({
    ...rest,
    execute: async (args, context) => await withPath(pathOf(args), async () => execute(args, context)),
    ...(preview !== undefined && {
      preview: async (args: Args, context?: PreviewContext) =>
        await withPath(pathOf(args), async () => await preview(args, context)),
    }),
  });
}

/** Throws if a user allowed another change than this one. */
export function requireApproved(
  path: string,
  planned: PlannedChange,
  approved: readonly PlannedChange[] | undefined,
): void {
  if (approved === undefined || isDeepStrictEqual(approved.map(contents), [planned].map(contents))) return;
  const message = `${quotePath(path)} has changed since a user allowed the call, so nothing was written. Read it again.`;
  throw new AgentError({ kind: 'tool', code: 'changed', message });
}

function contents({ target, before, after }: PlannedChange): unknown {
  return [target, before, after];
}

/** Throws if the call was cancelled. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted)
    throw new AgentError({ kind: 'aborted', code: 'run_stopped', message: 'The call was cancelled.' });
}

async function withPath<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw fileError(error, path);
  }
}
