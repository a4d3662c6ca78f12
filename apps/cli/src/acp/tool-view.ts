import { resolve } from 'node:path';
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { Tool, ToolResultPart, UserPart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent';
import type { CallPosition } from '@cobbler/agent/events';
import { visibleText } from '@cobbler/agent/events';
import type { DiffLine } from '../view/diff-lines.ts';
import { parseDiff } from '../view/diff-lines.ts';

/** The context for showing tool calls. */
export interface ToolView {
  /** Absolute path, because editors accept only absolute paths. */
  readonly folder: string;
  readonly tools: readonly Tool[];
}

/** A tool call: its name and arguments. */
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

/** Returns an editor's view of a call that has no result yet. */
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
    title: visibleText(subject === '' ? toolName : `${toolName} ${subject}`, 'name'),
    name: visibleText(toolName, 'name'),
    kind: kinds[toolName] ?? 'other',
    rawInput: args,
    ...(typeof path === 'string' && { locations: [locationOf(path, args['offset'], folder)] }),
  };
}

/** Returns an id that is unique in the session; the ids of providers may repeat. */
export function callId({ turn, index }: CallPosition): string {
  return `call-${turn}-${index}`;
}

/** Converts a unified diff of one file, one content item per hunk. */
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

/** Converts a tool result, without the parts that an editor cannot show. */
export function resultContent(parts: readonly ToolResultPart[]): ToolCallContent[] {
  return parts.map((part) => {
    return { type: 'content', content: contentBlock(part) };
  });
}

/** Converts a part to editor content: text, an image, or the name of another file. */
export function contentBlock(part: UserPart): ContentBlock {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, data, name } = part;
  if (fileKind(mediaType) === 'image') return { type: 'image', mimeType: mediaType, data };
  return { type: 'text', text: `[${name ?? mediaType}]` };
}

/** Returns the subject of a call; undefined if the tool throws on the arguments. */
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

/** Returns one side of a hunk: all lines except those that exist only on the other side. */
function sideOf(hunk: readonly DiffLine[], other: '+' | '-'): string {
  return hunk
    .filter(({ sign }) => sign !== other)
    .map(({ text }) => `${text}\n`)
    .join('');
}
