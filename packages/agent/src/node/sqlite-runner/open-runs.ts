import { statSync } from 'node:fs';
import { storeError } from '../sqlite/database-error.ts';
import { sqlite } from '../sqlite/engine.ts';

/** A run that is not over. */
export interface OpenRun {
  readonly runId: string;
  readonly key?: string;
  /** Whether a process works on it, or did when it died; else it waits for its turn. */
  readonly isTaken: boolean;
}

/**
 * The runs in the file of a `sqliteRunner` that are not over, in the order of their start. Only looks: nothing is
 * taken up, whoever works on them. No file is no runs.
 * @throws AgentError with the codes of `sqliteStore`.
 */
export function openRuns(file: string): readonly OpenRun[] {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return [];
  try {
    const db = new (sqlite().DatabaseSync)(file, { readOnly: true, timeout: 5000 });
    try {
      const rows = db.prepare("SELECT id, queue, owner FROM runs WHERE state = 'open' ORDER BY number").all();
      return rows.map(({ id, queue, owner }) => ({
        runId: String(id),
        ...(queue !== null && { key: String(queue) }),
        isTaken: owner !== null,
      }));
    } finally {
      db.close();
    }
  } catch (error) {
    throw storeError(error, file, 'runs');
  }
}
