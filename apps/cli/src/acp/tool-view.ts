import { resolve } from 'node:path';
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { Tool, ToolResultPart, UserPart } from '@cobbler/agent';
import type { CallPosition } from '@cobbler/agent/events';
import { fileKind } from '@cobbler/agent/values';
import type { DiffLine } from '../view/diff-lines.ts';
import { parseDiff } from '../view/diff-lines.ts';

/** The context of the calls. */
export interface ToolView {
  /** Absolute; an editor knows files by absolute paths only. */
  readonly folder: string;
  readonly tools: readonly Tool[];
}

/** A call as it is made: by name, with its arguments. */
export interface NamedCall {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
}

const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_files: 'search',
  search_files: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  run_command: 'execute',
};

/** The view of a call in an editor before it has a result. */
export function callFacts(
  { toolName, arguments: args }: NamedCall,
  { folder, tools }: ToolView,
): {
  title: string;
  name: string;
  kind: ToolKind;
  rawInput: Record<string, unknown>;
  locations?: ToolCallLocation[];
} {
  const subject = subjectOf(
    tools.find(({ name }) => name === toolName),
    args,
  );
  const { path } = args;
  return {
    title: subject === '' ? toolName : `${toolName} ${subject}`,
    name: toolName,
    kind: kinds[toolName] ?? 'other',
    rawInput: args,
    ...(typeof path === 'string' && { locations: [locationOf(path, args['offset'], folder)] }),
  };
}

/** The id of a call: the provider's own may repeat within a session. */
export function callId({ turn, index }: CallPosition): string {
  return `call-${turn}-${index}`;
}

/** A unified diff of one file, hunk by hunk. */
export function diffContent(diff: string, folder: string): ToolCallContent[] {
  const path = /^\+\+\+ (.+?)(?:\t.*)?$/m.exec(diff)?.[1];
  if (path === undefined) return [];
  const isNew = diff.includes('--- /dev/null');
  return hunksOf(diff).map((hunk) => ({
    type: 'diff',
    path: resolve(folder, path),
    oldText: isNew ? null : sideOf(hunk, '+'),
    newText: sideOf(hunk, '-'),
  }));
}

/** The result of a tool, without parts that an editor cannot show. */
export function resultContent(parts: readonly ToolResultPart[]): ToolCallContent[] {
  return parts.map((part) => {
    return { type: 'content', content: contentBlock(part) };
  });
}

/** A part as an editor shows it: text, an image, or the name of another file. */
export function contentBlock(part: UserPart): ContentBlock {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, data, name } = part;
  if (fileKind(mediaType) === 'image') return { type: 'image', mimeType: mediaType, data };
  return { type: 'text', text: `[${name ?? mediaType}]` };
}

/** A tool that stumbles over odd arguments has no subject. */
function subjectOf(tool: Tool | undefined, args: Record<string, unknown>): string {
  try {
    return tool?.subject?.(args) ?? '';
  } catch {
    return '';
  }
}

function locationOf(path: string, line: unknown, folder: string): ToolCallLocation {
  return {
    path: resolve(folder, path),
    ...(typeof line === 'number' && Number.isInteger(line) && line > 0 && { line }),
  };
}

function hunksOf(diff: string): DiffLine[][] {
  const hunks: DiffLine[][] = [[]];
  for (const line of parseDiff(diff)) {
    if (line === undefined) hunks.push([]);
    else hunks.at(-1)?.push(line);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

/** One side of a hunk: all lines but those that only the other side has. */
function sideOf(hunk: readonly DiffLine[], other: '+' | '-'): string {
  return hunk
    .filter(({ sign }) => sign !== other)
    .map(({ text }) => `${text}\n`)
    .join('');
}
