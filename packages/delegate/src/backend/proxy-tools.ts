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

/** The program has its own limits for what it does; the run's limit of time stands above them. */
const dayMs = 86_400_000;

interface ProxyToolsOptions {
  readonly workingDir: string;
  readonly more?: readonly string[] | undefined;
  /** Says where the home folder is. Default: the environment of this process. */
  readonly env?: Environment;
}

/** Where a program works. */
export interface ProxyTarget {
  readonly workspace: Workspace;
  readonly home: string;
}

/**
 * The folder that calls are judged by. It is resolved once, when it is first asked for, so that a program cannot put
 * another in its place. What it gives throws AgentError `invalid` when `workingDir` is not a folder.
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
  /** The one argument that matters; empty when there is none. */
  readonly subject: string;
  /** Why a person has to look at the call, in words. Looks at the disk; throws when the folder cannot be used. */
  mustAsk(): string | undefined;
}

/** The facts of one call, the same for every way by which a program asks. */
export function callFacts(name: string, given: Record<string, unknown>, place: () => ProxyTarget): CallFacts {
  const isFileTool = readers.has(name) || writers.has(name);
  return {
    effect: readers.has(name) ? 'read' : 'once',
    subject: subjectOf(given),
    mustAsk: () => (isFileTool ? concernOf(place(), name, given) : undefined),
  };
}

/**
 * Tools that do nothing but wait for a program to do it: the loop gates, records and counts its calls through
 * them. What the program may repeat is its own affair. A call that reads what is sealed, or writes what is protected
 * or outside of its folder, wants a person to look.
 */
export function proxyTools(
  outcome: (given: Record<string, unknown>, context: ToolContext) => Promise<ToolOutput>,
  { workingDir, more = [], env = process.env }: ProxyToolsOptions,
): Tool[] {
  const place = placeIn(workingDir, env);
  return [...new Set([...names, ...more, otherTool])].map((name) =>
    defineTool({
      name,
      description: `The tool ${name} of the delegated program.`,
      parameters: { type: 'object' },
      effect: callFacts(name, {}, place).effect,
      mayRepeat: true,
      timeoutMs: dayMs,
      subject: (given) => callFacts(name, given, place).subject,
      mustAsk: (given) => callFacts(name, given, place).mustAsk(),
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

/** Readers that look into everything below a path. */
const treeReaders: ReadonlySet<string> = new Set(['Glob', 'Grep', 'LS']);

/** Why a person has to look at a call, in words. */
function concernOf(place: ProxyTarget, name: string, given: Record<string, unknown>): string | undefined {
  const named = pathsIn(given).flatMap((path) => spellingsOf(path, place.home));
  if (writers.has(name) && named.length === 0) return `${name} does not name the file it writes.`;
  const below = treeReaders.has(name) && named.length === 0 ? ['.'] : named;
  const pattern = name === 'Glob' ? textOf(given['pattern']) : '';
  const [fixed, rest] = cutAtWildcard(pattern);
  if (leadsAway(rest)) return `${quotePath(pattern)} can match any path.`;
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
  if (refusal === 'outside') return `${quotePath(path)} is outside the directory.`;
  return workspace.mustAsk(path, ownFiles);
}

/** A path as it is written and, if it begins with `~`, what that stands for: programs differ in which they take. */
function spellingsOf(path: string, home: string): string[] {
  return /^~(?:[/\\]|$)/.test(path) ? [path, join(home, path.slice(1))] : [path];
}

/** The folders at the beginning of a pattern that have no wildcard, and the rest. */
function cutAtWildcard(pattern: string): [fixed: string, rest: string] {
  const at = pattern.search(/[*?[\]{}()!+@\\]/);
  const end = at < 0 ? pattern.length : pattern.lastIndexOf('/', at) + 1;
  return [pattern.slice(0, end), pattern.slice(end)];
}

/** True if the rest of a pattern contains `..`, or an alternative with another root. */
function leadsAway(rest: string): boolean {
  const away = /(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])|[{,(|][/~]/;
  return away.test(rest) || away.test(rest.replaceAll('\\', ''));
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
