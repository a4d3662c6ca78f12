import type { StructuredPatch } from 'diff';
import { lineCount } from './file-bytes.ts';

/** A change in readable form, for watchers and approvals. */
export interface Change {
  /** Such as `+3 -1`. */
  readonly summary: string;
  /** Absent when nothing changes, and when the texts are too large or too different to compare in time. */
  readonly diff?: string;
}

/** Comparing happens on the thread that everything else runs on, so it is kept short (milliseconds). */
const maxMs = 100;
const maxCharacters = 2_000_000;
const contextLines = 3;

/** Compares two versions of a file; `before` is absent for a new one. */
export async function changeOf(name: string, before: string | undefined, after: string): Promise<Change> {
  if (before === after) return { summary: 'no change' };
  const counts = { summary: `+${lineCount(after)} -${lineCount(before ?? '')}` };
  if ((before?.length ?? 0) + after.length > maxCharacters) return counts;
  // Loaded with the first change: most runs begin by reading, and it takes as long as all tools together.
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
