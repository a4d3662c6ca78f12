import { statSync } from 'node:fs';
import type { RunRetention } from '../../runner/journal.ts';
import { filledRetention } from '../../runner/journal.ts';
import { JournaledRunner } from '../../runner/local-runner.ts';
import type { Routine, Runner } from '../../runner/runner.ts';
import type { Json } from '../../values/json.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { storeError } from '../sqlite/database-error.ts';
import { sqlite } from '../sqlite/engine.ts';
import type { OnWrite } from '../sqlite/write-moment.ts';
import { SqliteJournal } from './sqlite-journal.ts';

/** The routine that `sqliteRunner` runs, and the file that remembers its runs. */
export interface SqliteRunnerOptions<Input extends Json, Output extends Json> {
  /** The folder and the file are made when they are missing, for the owner alone. */
  readonly file: string;
  readonly routine: Routine<Input, Output>;
  /** Default: the real clock. */
  readonly runtime?: Runtime;
  /** Of the routine; change it when runs under way would come out another way. Default `1`. */
  readonly version?: string;
  /** Older versions whose runs this routine can take up as well. */
  readonly replays?: readonly string[];
  /** How long ended runs are kept. Default: 30 days, and at most 10,000. */
  readonly retention?: RunRetention;
  /** How long to wait for another process that writes, in milliseconds. Default 4,000. */
  readonly busyMs?: number;
  /** How often to look for what other processes did, in milliseconds. Default 200. */
  readonly lookMs?: number;
  /** Called at every moment of every write, for tests that end the process there. */
  readonly onWrite?: OnWrite;
}

/**
 * Runs routines durably on one machine, with a journal in a file that any number of processes may use at once: each
 * run is worked on by one of them, and by another when that dies. What a step recorded survives a power cut. Runs
 * that were under way are taken up as soon as the runner is opened; one of a version that is not known fails with
 * code `routine_version`, so all processes on one file should have the same.
 * @throws AgentError that says what is wrong with the file and what to do, with the codes of {@link sqliteStore}.
 */
export function sqliteRunner<Input extends Json, Output extends Json>(
  options: SqliteRunnerOptions<Input, Output>,
): Runner<Input, Output> {
  const { file, routine, runtime = systemRuntime, version = '1', replays = [], retention } = options;
  const { busyMs = 4000, lookMs = 200, onWrite = () => {} } = options;
  const kept = filledRetention(retention);
  const journal = new SqliteJournal({ file, runtime, retention: kept, busyMs, lookMs, onWrite });
  // What a run is given is what `start` took, and what it gives is what the routine returned.
  const own = { journal, runtime, routine: routine as unknown as Routine, version, replays };
  return new JournaledRunner(own) as unknown as Runner<Input, Output>;
}

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
