import type { AssistantPart, Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';

/** Tools that programs are known to have. A call of any other is told as one of {@link otherTool}. */
const names: readonly string[] = [
  // Claude Code
  ...[
    'Agent',
    'AskUserQuestion',
    'Bash',
    'BashOutput',
    'Edit',
    'EnterPlanMode',
    'ExitPlanMode',
    'Glob',
    'Grep',
  ],
  ...['KillShell', 'LS', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'Read', 'Skill', 'Task', 'TaskOutput'],
  ...['TaskStop', 'TodoRead', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch', 'Write'],
  // Codex
  ...['command_execution', 'file_change', 'mcp_tool_call', 'web_search', 'collab_tool_call', 'image_view'],
];

/** Stands for every tool whose name nobody knew beforehand: what it is called is its argument `tool`. */
export const otherTool = 'other';

/** The program has its own limits for what it does; the run's limit of time stands above them. */
const dayMs = 86_400_000;

/**
 * Tools that do nothing but wait for a program to do it: the loop gates, records and counts its calls through
 * them. What the program may repeat is its own affair.
 */
export function proxyTools(
  outcome: (given: Record<string, unknown>, context: ToolContext) => Promise<ToolOutput>,
  more: readonly string[] = [],
): Tool[] {
  return [...new Set([...names, ...more, otherTool])].map((name) =>
    defineTool({
      name,
      description: `The tool ${name} of the delegated program.`,
      parameters: { type: 'object' },
      effect: readers.has(name) ? 'read' : 'once',
      mayRepeat: true,
      timeoutMs: dayMs,
      subject: subjectOf,
      execute: outcome,
    }),
  );
}

const readers: ReadonlySet<string> = new Set([
  ...['Glob', 'Grep', 'LS', 'NotebookRead', 'Read', 'TodoRead', 'ToolSearch', 'image_view'],
]);

/** The one argument that matters, under the names that programs have for it. */
function subjectOf(given: Record<string, unknown>): string {
  const keys = [
    'command',
    'file_path',
    'path',
    'notebook_path',
    'pattern',
    'query',
    'url',
    'tool',
    'description',
  ];
  const found = keys.map((key) => given[key]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : '';
}

/** A call by a name that the loop knows. */
export function knownName(part: AssistantPart, more: readonly string[]): AssistantPart {
  if (part.type !== 'tool_call' || names.includes(part.toolName) || more.includes(part.toolName)) return part;
  return { ...part, toolName: otherTool, arguments: { tool: part.toolName, arguments: part.arguments } };
}
