import type { Tool, ToolContext } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import { checkSchema } from '@cobbler/agent/provider';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { McpConnection } from './connection.ts';
import type { ListedTool } from './listed-tool.ts';
import { capped, plainText } from './plain-text.ts';
import { resultOutput } from './tool-result.ts';

/** Least time between two words of progress that are passed on, in milliseconds. */
const progressEveryMs = 100;

const maxProgress = 300;

/** A tool of a server as one of ours. */
export function mcpTool(connection: McpConnection, listed: ListedTool, now: () => number): Tool {
  const { ownName, name, description, schema, parameters, effect, mayRepeat } = listed;
  const tool = defineTool<Record<string, unknown>>({
    name,
    description,
    parameters,
    effect,
    mayRepeat,
    // The executor enforces the time limit; that of the connection is only for direct calls.
    timeoutMs: connection.callMs,
    subject: (args) => JSON.stringify(args),
    execute: async (args, context) => {
      const { signal } = context;
      return resultOutput(
        await connection.call(ownName, args, { signal, onProgress: progressTo(context, now) }),
      );
    },
  });
  return {
    ...tool,
    validate: async (args) => {
      const problem = await checkSchema(schema, args);
      return problem === undefined ? { ok: true, value: args } : { ok: false, problem };
    },
  };
}

/** Excess progress of a server is dropped. */
function progressTo(context: ToolContext, now: () => number): (progress: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const isLast = total !== undefined && progress >= total;
    if (now() - last < progressEveryMs && !isLast) return;
    last = now();
    const share = total === undefined ? String(progress) : `${progress}/${total}`;
    context.progress(message === undefined ? share : `${share} ${capped(plainText(message), maxProgress)}`);
  };
}
