import type { Tool, ToolContext } from '../interfaces/tool.ts';
import { defineTool } from '../interfaces/tool.ts';

/** One run of a probe. */
export interface ProbeRun {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly context: ToolContext;
}

/** Tools that keep a record of when they ran. */
export interface ProbeTools {
  /** Runs so far, in the order they began. */
  readonly runs: readonly ProbeRun[];
  /** Names of the tools that ran, in the order they began. */
  readonly names: readonly string[];
  /** Makes a tool that takes any arguments and gives `NAME done` unless told otherwise. */
  tool(name: string, rest?: Partial<Omit<Tool, 'name'>>): Tool;
}

/** Makes a set of test tools that record every call. */
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
