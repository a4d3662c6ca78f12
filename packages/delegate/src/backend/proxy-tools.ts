import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AssistantPart, Environment, Tool, ToolContext, ToolEffect, ToolOutput } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import { quotePath, Workspace } from '@cobbler/agent/node';
import { fieldsOf, textOf } from '../events/fields.ts';

/** Known tools of programs. A call of any other is reported as {@link otherTool}. */
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

/** Represents every unknown tool: its real name is the argument `tool`. */
export const otherTool = 'other';

/** Time limit of a proxied call: one day. The program has its own limits, and the run's time limit also applies. */
const dayMs = 86_400_000;

interface ProxyToolsOptions {
  readonly workingDir: string;
  readonly more?: readonly string[] | undefined;
  /** Tools that can send data, and whose output is trusted. */
  readonly trusted?: readonly string[] | undefined;
  /** Environment from which the home directory is determined. Default: the environment of this process. */
  readonly env?: Environment;
}

/** The working directory and the home directory of a program. */
export interface ProxyTarget {
  readonly workspace: Workspace;
  readonly home: string;
}

/**
 * Returns a function that resolves the directory used to judge calls. It is resolved only once, on first use, so that
 * a program cannot replace it. The function throws AgentError `invalid` if `workingDir` is not a directory.
 */
export function placeIn(workingDir: string, env: Environment): () => ProxyTarget {
  let place: ProxyTarget | undefined;
  return () => {
    const home = env['HOME'] || env['USERPROFILE'] || homedir();
    place ??= { workspace: new Workspace(workingDir, { env }), home };
    return place;
  };
}

/** The properties of a program's call that a gate needs. */
interface CallFacts {
  readonly effect: ToolEffect;
  /** True if the output can contain text that other people wrote. */
  readonly untrusted: boolean;
  /** True if the call can send data. */
  readonly sends: boolean;
  /** The most important argument; empty if there is none. */
  readonly subject: string;
  /**
   * Returns why a user must approve the call; undefined if approval is not needed. Accesses the disk, and throws if
   * the directory cannot be used.
   */
  mustAsk(): string | undefined;
}

/** Returns the facts of one call, independently of how a program asks about it. */
export function callFacts(name: string, given: Record<string, unknown>, place: () => ProxyTarget): CallFacts {
  const isFileTool = readers.has(name) || writers.has(name);
  return {
    effect: readers.has(name) ? 'read' : 'once',
    untrusted: agents.has(name) || (!isFileTool && !commands.has(name) && !inner.has(name)),
    sends: !isFileTool && !inner.has(name),
    subject: subjectOf(given),
    mustAsk: () => (isFileTool ? concernOf(place(), name, given) : undefined),
  };
}

/**
 * Creates tools that only wait for a program to execute a call. Through them, the loop gates, records and counts the
 * program's calls. The program itself decides what it repeats. A call that reads a sealed file, or writes a protected
 * file or a file outside the directory, requires a user's approval. So does a call that can send data after the program
 * has read what other people wrote.
 */
export function proxyTools(
  outcome: (given: Record<string, unknown>, context: ToolContext) => Promise<ToolOutput>,
  { workingDir, more = [], trusted = [], env = process.env }: ProxyToolsOptions,
): Tool[] {
  const place = placeIn(workingDir, env);
  return [...new Set([...names, ...more, otherTool])].map((name) => {
    const { effect, untrusted, sends } = callFacts(name, {}, place);
    const isTrusted = trusted.includes(name);
    return defineTool({
      name,
      description: `Tool ${name} of the program that carries out the delegated task.`,
      parameters: { type: 'object' },
      effect,
      untrusted: untrusted && !isTrusted,
      sends: sends && !isTrusted,
      mayRepeat: true,
      timeoutMs: dayMs,
      subject: (given) => callFacts(name, given, place).subject,
      mustAsk: (given) => callFacts(name, given, place).mustAsk(),
      execute: outcome,
    });
  });
}

const readers: ReadonlySet<string> = new Set([
  ...['Glob', 'Grep', 'LS', 'NotebookRead', 'Read', 'TodoRead', 'ToolSearch', 'image_view'],
]);

const writers: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'NotebookEdit', 'Write', 'file_change']);

/** Tools that run command lines. Most commands read the working directory, so their output is trusted. */
const commands: ReadonlySet<string> = new Set(['Bash', 'BashOutput', 'KillShell', 'command_execution']);

/** Tools that return what other agents of the program have read. */
const agents: ReadonlySet<string> = new Set(['Agent', 'Task', 'TaskOutput', 'collab_tool_call']);

/** Tools that affect only the program itself, or start agents whose calls are checked on their own. */
const inner: ReadonlySet<string> = new Set([
  ...['Agent', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'KillShell', 'BashOutput', 'Skill'],
  ...['Task', 'TaskOutput', 'TaskStop', 'TodoWrite', 'collab_tool_call'],
]);

/** Files and directories that control programs. */
const ownFiles: readonly string[] = ['.claude', 'claude.md', 'claude.local.md'];

/** Tools that read everything below a path. */
const treeReaders: ReadonlySet<string> = new Set(['Glob', 'Grep', 'LS']);

/** Returns why a user must approve a call; undefined if approval is not needed. */
function concernOf(place: ProxyTarget, name: string, given: Record<string, unknown>): string | undefined {
  const named = pathsIn(given).flatMap((path) => spellingsOf(path, place.home));
  if (writers.has(name) && named.length === 0) return `${name} does not name a file to write.`;
  const below = treeReaders.has(name) && named.length === 0 ? ['.'] : named;
  const pattern = name === 'Glob' ? textOf(given['pattern']) : '';
  const [fixed, rest] = cutAtWildcard(pattern);
  if (leavesWorkspace(rest)) return `${quotePath(pattern)} can match any path.`;
  const starts = spellingsOf(fixed, place.home).filter((start) => start !== '');
  const paths = [
    ...below,
    ...below.flatMap((path) => starts.map((start) => resolve(place.workspace.root, path, start))),
  ];
  return paths.map((path) => concernAbout(place.workspace, name, path)).find((why) => why !== undefined);
}

function concernAbout(workspace: Workspace, name: string, path: string): string | undefined {
  const refusal = workspace.refusalOf(path);
  if (refusal === 'sealed') return `${quotePath(path)} contains keys or Cobbler's own files.`;
  if (refusal === 'unusable') return `${quotePath(path)} cannot be resolved, so its target is unknown.`;
  if (treeReaders.has(name) && workspace.holdsSealed(path))
    return `${quotePath(path)} contains keys or Cobbler's own files.`;
  if (!writers.has(name)) return undefined;
  if (refusal === 'outside') return `${quotePath(path)} is outside the working directory.`;
  return workspace.mustAsk(path, ownFiles);
}

/**
 * Returns a path as written and, if it starts with `~`, with the home directory, because programs differ in which one
 * they use.
 */
function spellingsOf(path: string, home: string): string[] {
  return /^~(?:[/\\]|$)/.test(path) ? [path, join(home, path.slice(1))] : [path];
}

/** Splits a pattern into its initial directories without wildcards and the rest. */
function cutAtWildcard(pattern: string): [fixed: string, rest: string] {
  const at = pattern.search(/[*?[\]{}()!+@\\]/);
  const end = at < 0 ? pattern.length : pattern.lastIndexOf('/', at) + 1;
  return [pattern.slice(0, end), pattern.slice(end)];
}

/** Returns true if the rest of a pattern contains `..`, or an alternative with another root. */
function leavesWorkspace(rest: string): boolean {
  const away = /(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])|[{,(|][/~]/;
  return away.test(rest) || away.test(rest.replaceAll('\\', ''));
}

const pathNames: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'path', 'move_path']);

/** Returns the paths of a call. Codex has several, in a list or as the keys of an object. */
function pathsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  return Object.entries(fieldsOf(value)).flatMap(([key, item]) => {
    if (typeof item === 'string') return pathNames.has(key) ? [item] : [];
    const names = key === 'changes' && !Array.isArray(item) ? Object.keys(fieldsOf(item)) : [];
    return [...names, ...pathsIn(item)];
  });
}

/** Returns the most important argument, under the names that programs use for it. */
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

/** Renames a call of an unknown tool to one that the loop knows. */
export function knownName(part: AssistantPart, more: readonly string[]): AssistantPart {
  if (part.type !== 'tool_call' || names.includes(part.toolName) || more.includes(part.toolName)) return part;
  return { ...part, toolName: otherTool, arguments: { tool: part.toolName, arguments: part.arguments } };
}
