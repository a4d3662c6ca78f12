import type { Tool, ToolContext } from '../interfaces/tool.ts';
import { defineTool } from '../interfaces/tool.ts';

/** One call of a probe tool. */
export interface ProbeRun {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly context: ToolContext;
}

/** Tools that record their calls. */
export interface ProbeTools {
  /** Calls so far, in the order in which they started. */
  readonly runs: readonly ProbeRun[];
  /** Names of the called tools, in the order in which they started. */
  readonly names: readonly string[];
  /** Creates a tool that accepts any arguments and returns `NAME done` by default. */
  tool(name: string, rest?: Partial<Omit<Tool, 'name'>>): Tool;
}

/** Creates a set of test tools that record every call. */
export function probeTools(): ProbeTools {
  const runs: ProbeRun[] = [];
  const names: string[] = [];
  return {
    runs,
    names,
    tool(name, { execute = () => `${name} done`, ...rest } = {}) {
      return defineTool({
        name,
        description: `The tool ${name}.`,
        parameters: { type: 'object' },
        ...rest,
        execute(args, context) {
          runs.push({ name, arguments: args, context });
          names.push(name);
          return execute(args, context);
        },
      });
    },
  };
}
