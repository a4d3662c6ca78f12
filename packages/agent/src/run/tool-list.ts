import type { Tool } from '../interfaces/tool.ts';
import { AgentError } from '../values/errors.ts';
import { maxDeclarationBytes } from '../values/sizes.ts';

/** The sizes of declarations. Many executors share tools, for example one for each prompt of a harness. */
const sizes = new WeakMap<Tool, number>();

/**
 * Checks the tools of a run together.
 * @throws AgentError `invalid`, code `duplicate_tool` or `tools_too_large`.
 */
export function checkTools(tools: readonly Tool[]): void {
  const names = new Set<string>();
  let bytes = 0;
  for (const tool of tools) {
    const { name } = tool;
    if (names.has(name))
      throw new AgentError({
        kind: 'invalid',
        code: 'duplicate_tool',
        message: `Two tools are named ${name}. Rename one of the tools in options.tools.`,
      });
    names.add(name);
    bytes += declarationSize(tool);
  }
  if (bytes > maxDeclarationBytes) throw toolsTooLarge(tools, bytes);
}

function declarationSize(tool: Tool): number {
  let size = sizes.get(tool);
  if (size === undefined) {
    const { name, description, parameters } = tool;
    size = name.length + description.length + JSON.stringify(parameters).length;
    sizes.set(tool, size);
  }
  return size;
}

function toolsTooLarge(tools: readonly Tool[], bytes: number): AgentError {
  const largest = tools.reduce((left, right) =>
    declarationSize(left) >= declarationSize(right) ? left : right,
  );
  const message = `The declarations of all tools have ${bytes} bytes, but the maximum is ${maxDeclarationBytes}. The largest is ${largest.name} with ${declarationSize(largest)} bytes. Shorten its description and parameters, or remove tools from options.tools.`;
  return new AgentError({ kind: 'invalid', code: 'tools_too_large', message });
}
