import type { AssistantPart, Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import { quotePath, Workspace } from '@cobbler/agent/node';
import { fieldsOf } from './fields.ts';

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
 * them. What the program may repeat is its own affair. A call that reads what is sealed, or writes what is protected
 * or outside of its folder, wants a person to look.
 */
export function proxyTools(
  outcome: (given: Record<string, unknown>, context: ToolContext) => Promise<ToolOutput>,
  { workingDir, more = [] }: { readonly workingDir: string; readonly more?: readonly string[] | undefined },
): Tool[] {
  let workspace: Workspace | undefined;
  const mustAsk = (name: string, given: Record<string, unknown>): string | undefined => {
    workspace ??= new Workspace(workingDir);
    return concernOf(workspace, name, given);
  };
  return [...new Set([...names, ...more, otherTool])].map((name) =>
    defineTool({
      name,
      description: `The tool ${name} of the delegated program.`,
      parameters: { type: 'object' },
      effect: readers.has(name) ? 'read' : 'once',
      mayRepeat: true,
      timeoutMs: dayMs,
      subject: subjectOf,
      ...((readers.has(name) || writers.has(name)) && { mustAsk: (given) => mustAsk(name, given) }),
      execute: outcome,
    }),
  );
}

const readers: ReadonlySet<string> = new Set([
  ...['Glob', 'Grep', 'LS', 'NotebookRead', 'Read', 'TodoRead', 'ToolSearch', 'image_view'],
]);

const writers: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'NotebookEdit', 'Write', 'file_change']);

/** Files and folders that programs obey. */
const ownFiles: readonly string[] = ['.claude', 'claude.md', 'claude.local.md'];

/** Why a person has to look at a call, in words. */
function concernOf(workspace: Workspace, name: string, given: Record<string, unknown>): string | undefined {
  const paths = pathsIn(given);
  if (writers.has(name) && paths.length === 0) return `${name} does not say which file it writes.`;
  for (const path of paths) {
    const refusal = workspace.refusalOf(path);
    if (refusal === 'sealed') return `${quotePath(path)} holds keys or Cobbler's own files.`;
    if (refusal === 'unusable') return `${quotePath(path)} cannot be resolved, so nothing says what it names.`;
    if (!writers.has(name)) continue;
    const why =
      refusal === undefined
        ? workspace.mustAsk(path, ownFiles)
        : `${quotePath(path)} is outside of the folder.`;
    if (why !== undefined) return why;
  }
  return undefined;
}

const pathNames: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'path', 'move_path']);

/** The paths that a call names: Codex has several, in a list or as the keys of an object. */
function pathsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  return Object.entries(fieldsOf(value)).flatMap(([key, item]) => {
    if (typeof item === 'string') return pathNames.has(key) ? [item] : [];
    const names = key === 'changes' && !Array.isArray(item) ? Object.keys(fieldsOf(item)) : [];
    return [...names, ...pathsIn(item)];
  });
}

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
