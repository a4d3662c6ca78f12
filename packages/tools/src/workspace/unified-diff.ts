import type { StructuredPatch } from 'diff';
import { lineCount } from './file-bytes.ts';

/** A change in readable form, for progress updates and approvals. */
export interface Change {
  /** Added and removed lines, such as `+3 -1`. */
  readonly summary: string;
  /** Absent if nothing changes, or if the texts are too large or too different to compare in time. */
  readonly diff?: string;
}

/** Limits of a comparison, which blocks the main thread. The time is in milliseconds. */
const maxMs = 100;
const maxCharacters = 2_000_000;
const contextLines = 3;

/** Compares two versions of a file; `before` is undefined for a new one. */
export async function changeOf(name: string, before: string | undefined, after: string): Promise<Change> {
  if (before === after) return { summary: 'no change' };
  const counts = { summary: `+${lineCount(after)} -${lineCount(before ?? '')}` };
  if ((before?.length ?? 0) + after.length > maxCharacters) return counts;
  // Loaded with the first change: most runs start by reading, and loading takes as long as all tools together.
  const { FILE_HEADERS_ONLY, formatPatch, structuredPatch } = await import('diff/lib/patch/create.js');
  const from = before === undefined ? '/dev/null' : name;
  const options = { context: contextLines, timeout: maxMs };
  const patch = structuredPatch(from, name, before ?? '', after, undefined, undefined, options);
  if (patch === undefined) return counts;
  return { summary: summaryOf(patch), diff: formatPatch(patch, FILE_HEADERS_ONLY) };
}

function summaryOf(patch: StructuredPatch): string {
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return `+${count('+')} -${count('-')}`;
}
