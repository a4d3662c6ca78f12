import type { Tool, ToolOutput } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import { counted } from './workspace/file-bytes.ts';
import { fileTool } from './workspace/file-tool.ts';
import { compileGlob } from './workspace/glob.ts';
import type { WalkEntry } from './workspace/walk.ts';
import { byPath, walk } from './workspace/walk.ts';

/** Arguments of list_files. */
export interface ListFilesArgs {
  /** Directory relative to the workspace. Default: the whole workspace. */
  readonly path?: string;
  /** A glob that files must match. */
  readonly pattern?: string;
  /** Number of directory levels; 1 is the directory itself. */
  readonly depth?: number;
  /** True to include files that git ignores. */
  readonly include_ignored?: boolean;
}

interface ListedEntry extends WalkEntry {
  /** Depth of the entry; 1 for entries of the directory itself. */
  readonly depth: number;
}

const maxShown = 1000;
/** Maximum number of entries visited, to limit the time; later entries are not counted. */
const maxWalked = 50_000;

const kindMarks: Record<WalkEntry['kind'], string> = {
  file: '',
  folder: '/',
  link: ' (link)',
  other: ' (special)',
};

/** Lists files by path, without those that git ignores. */
export function listFiles(workspace: Workspace): Tool {
  return fileTool<ListFilesArgs>(workspace, {
    name: 'list_files',
    description:
      'Lists the files in a directory of the workspace, sorted, one path per line. Files that .gitignore excludes, and ' +
      `directories such as node_modules, are omitted. Shows at most ${maxShown} lines; if there are more, only the upper levels are ` +
      'shown, with the number of files in each directory whose contents are not shown.',
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          description: 'Directory, relative to the workspace. Default: the whole workspace.',
        },
        pattern: {
          type: 'string',
          maxLength: 1000,
          description: 'Glob such as *.ts, src/**/*.{ts,tsx} or **/test/**.',
        },
        depth: {
          type: 'integer',
          minimum: 1,
          description: 'Number of directory levels to show. Default: all.',
        },
        include_ignored: {
          type: 'boolean',
          description: 'Also list the omitted files. Default false.',
        },
      },
      additionalProperties: false,
    },
    effect: 'read',
    timeoutMs: 60_000,
    pathOf: ({ path }) => path ?? '.',
    subject: ({ path }) => workspace.subject(path ?? '.'),
    execute: async (args, { signal }) => await list(workspace, args, signal),
  });
}

async function list(workspace: Workspace, args: ListFilesArgs, signal: AbortSignal): Promise<ToolOutput> {
  const path = args.path ?? '.';
  const start = await workspace.locate(path);
  const prefix = start === '.' ? '' : `${start}/`;
  const isWanted = args.pattern === undefined ? undefined : compileGlob(args.pattern);
  const found: ListedEntry[] = [];
  let walked = 0;
  for await (const { entries } of walk(workspace, path, {
    signal,
    includeIgnored: args.include_ignored === true,
  })) {
    walked += entries.length;
    if (walked > maxWalked) break;
    for (const entry of entries) {
      const below = entry.path.slice(prefix.length);
      const isFound =
        isWanted === undefined || (entry.kind !== 'folder' && (isWanted(below) || isWanted(entry.path)));
      if (isFound) found.push({ ...entry, depth: below.split('/').length });
    }
  }
  found.sort(byPath);
  const maxDepth = args.depth ?? Number.POSITIVE_INFINITY;
  const lines = isWanted === undefined ? treeLines(found, maxDepth) : flatLines(found, maxDepth);
  if (walked > maxWalked)
    lines.push(
      `[stopped after ${counted(maxWalked, 'entry', 'entries')}. To see more, set path to a subdirectory.]`,
    );
  if (lines.length === 0) lines.push(noMatchText(args, path));
  return toolOutput({ content: lines.join('\n'), summary: counted(filesIn(found), 'file') });
}

function flatLines(found: readonly ListedEntry[], maxDepth: number): string[] {
  const matching = found.filter((entry) => entry.depth <= maxDepth);
  const lines = matching.slice(0, maxShown).map((entry) => entry.path + kindMarks[entry.kind]);
  const left = matching.length - lines.length;
  if (left > 0) lines.push(`[${counted(left, 'file')} omitted. Use a narrower pattern.]`);
  return lines;
}

/** Returns all levels up to `maxDepth`, or as many as fit. */
function treeLines(found: readonly ListedEntry[], maxDepth: number): string[] {
  const counts = filesBelow(found);
  let level = Math.min(
    maxDepth,
    found.reduce((deepest, entry) => Math.max(deepest, entry.depth), 1),
  );
  let visible = visibleAt(found, level);
  while (visible.length > maxShown && level > 1) {
    level -= 1;
    visible = visibleAt(found, level);
  }
  const shown = visible.slice(0, maxShown);
  const left = filesIn(found) - filesIn(shown);
  const lines = shown.map((entry) => {
    const count = entry.kind === 'folder' ? (counts.get(entry.path) ?? 0) : 0;
    return `${entry.path}${kindMarks[entry.kind]}${count > 0 ? ` (${counted(count, 'file')})` : ''}`;
  });
  if (left > 0) lines.push(`[${counted(left, 'file')} not shown. Set path or pattern.]`);
  return lines;
}

/** Returns the files up to a level, the directories of that level, and empty directories above it. */
function visibleAt(found: readonly ListedEntry[], level: number): ListedEntry[] {
  return found.filter(({ kind, depth, path }, index) => {
    if (kind !== 'folder' || depth >= level) return depth <= level;
    // In sorted order, the content of a directory follows it.
    return found[index + 1]?.path.startsWith(`${path}/`) !== true;
  });
}

function filesBelow(found: readonly ListedEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path, kind } of found) {
    if (kind === 'folder') continue;
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  return counts;
}

function filesIn(entries: readonly ListedEntry[]): number {
  return entries.filter((entry) => entry.kind !== 'folder').length;
}

function noMatchText(args: ListFilesArgs, path: string): string {
  const where = path === '.' ? 'the workspace' : quotePath(path);
  const hint = args.include_ignored === true ? '' : ' (files that git ignores were omitted)';
  if (args.pattern === undefined) return `${where} is empty${hint}.`;
  return `No file in ${where} matches ${JSON.stringify(args.pattern)}${hint}.`;
}
