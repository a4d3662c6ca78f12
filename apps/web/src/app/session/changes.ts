import type { ConversationItem, StoredEvent } from '@cobbler/agent/events';
import type { FileDiff } from './diff.ts';
import { readDiff } from './diff.ts';

/** A file and all its changes, the oldest first. */
export interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly changes: readonly { readonly seq: number; readonly diff: FileDiff }[];
}

/** Returns the files that a conversation has changed, in the order of their first change. */
export function changesIn(items: readonly ConversationItem[]): ChangedFile[] {
  const files = new Map<string, { seq: number; diff: FileDiff }[]>();
  for (const item of items) {
    if (item.kind !== 'response') continue;
    for (const { report, part } of item.calls) {
      if (report?.diff === undefined || report.isError || report.notRun === true) continue;
      const named = part.arguments['path'];
      for (const diff of filesIn(report)) {
        const path = diff.path === '' && typeof named === 'string' ? named : diff.path;
        const earlier = files.get(path) ?? [];
        files.set(path, [...earlier, { seq: report.seq, diff }]);
      }
    }
  }
  return [...files].map(([path, changes]) => ({
    path,
    changes,
    added: sum(changes.map(({ diff }) => diff.added)),
    removed: sum(changes.map(({ diff }) => diff.removed)),
  }));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const known = new WeakMap<StoredEvent<'tool_result'>, FileDiff[]>();

/** Parses the diff of a result and caches it. */
export function filesIn(report: StoredEvent<'tool_result'>): readonly FileDiff[] {
  const before = known.get(report);
  if (before !== undefined) return before;
  const files = readDiff(report.diff ?? '');
  known.set(report, files);
  return files;
}
