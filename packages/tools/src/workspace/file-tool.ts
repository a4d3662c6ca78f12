import type { Tool, ToolDefinition } from '@cobbler/agent';
import { AgentError, defineTool } from '@cobbler/agent';
import { fileError } from '@cobbler/agent/node';

/** Instruction files of other agents: a write to them needs approval. */
export const agentFiles: readonly string[] = ['.claude', 'claude.md', 'claude.local.md'];

/** The parts of a tool on one path. */
export interface FileToolDefinition<Args> extends ToolDefinition<Args> {
  /** The path as the model gave it: errors call it that. */
  readonly pathOf: (args: Args) => string;
}

/** A tool whose errors name the model's own path; the system's error texts, which hold real ones, never pass. */
export function fileTool<Args>(definition: FileToolDefinition<Args>): Tool {
  const { pathOf, execute, preview, ...rest } = definition;
  return defineTool<Args>({
    ...rest,
    execute: async (args, context) => await named(pathOf(args), async () => execute(args, context)),
    ...(preview !== undefined && {
      preview: async (args: Args) => await named(pathOf(args), async () => await preview(args)),
    }),
  });
}

/** Stops work whose result is no longer needed. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted)
    throw new AgentError({ kind: 'aborted', code: 'run_stopped', message: 'The call was cancelled.' });
}

async function named<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw fileError(error, path);
  }
}
