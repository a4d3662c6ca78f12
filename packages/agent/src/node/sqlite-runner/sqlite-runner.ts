/**
 * Runs workflows durably, with the runs in a SQLite file.
 *
 * @module
 */

import { statSync } from 'node:fs';
import { filledRetention, readRunRetention } from '../../runner/inbox.ts';
import { InboxRunner } from '../../runner/inbox-runner.ts';
import type { MemoryRunnerOptions } from '../../runner/memory-runner.ts';
import type { Runner, Workflow } from '../../runner/runner.ts';
import { amount, callable, read, record, text, withMethods } from '../../values/input.ts';
import type { Json } from '../../values/json.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { storeError } from '../sqlite/database-error.ts';
import { sqlite } from '../sqlite/engine.ts';
import type { OnWrite } from '../sqlite/write-moment.ts';
import { SqliteInbox } from './sqlite-inbox.ts';

/** Options of {@link sqliteRunner}. */
export interface SqliteRunnerOptions<Input extends Json, Output extends Json>
  extends Omit<MemoryRunnerOptions<Input, Output>, 'maxOpen'> {
  /** Path of the database. A missing directory or file is created, accessible only to its owner. */
  readonly file: string;
  /** Maximum time to wait for another process that is writing, in milliseconds. Default 4,000. */
  readonly busyMs?: number;
  /** Interval between checks for changes by other processes, in milliseconds. Default 100. */
  readonly lookMs?: number;
  /** Called at each moment of each write, for tests that end the process there. */
  readonly onWrite?: OnWrite;
}

/**
 * Runs workflows durably on one machine, with the runs in a file that several processes can use at the same time. One
 * process works on each run; if it crashes, another takes over. A started run survives a power failure. Unfinished runs
 * continue as soon as the runner is opened, so all processes that share a file should run the same workflow.
 * @throws AgentError that states the problem with the file and how to fix it, with the codes of {@link sqliteStore}.
 */
export function sqliteRunner<Input extends Json, Output extends Json>(
  options: SqliteRunnerOptions<Input, Output>,
): Runner<Input, Output> {
  const given = read(options, runnerFields);
  const { file, workflow, runtime = systemRuntime, retention } = given;
  const { busyMs = 4000, lookMs = 100, onWrite = () => {} } = given;
  const kept = filledRetention(retention);
  const inbox = new SqliteInbox({ file, runtime, retention: kept, busyMs, lookMs, onWrite });
  // The input of a run is what `start` received, and its output is what the workflow returned.
  return new InboxRunner({ inbox, runtime, workflow }) as unknown as Runner<Input, Output>;
}

interface RunnerFields extends Omit<SqliteRunnerOptions<Json, Json>, 'workflow'> {
  readonly workflow: Workflow;
}

const runnerFields = record<RunnerFields>(
  {
    file: text,
    workflow: callable,
    runtime: withMethods('now', 'timer', 'random', 'digest'),
    retention: readRunRetention,
    busyMs: amount,
    lookMs: amount,
    onWrite: callable,
  },
  ['file', 'workflow'],
);

/** An unfinished run. */
export interface OpenRun {
  readonly runId: string;
  readonly key?: string;
  /** True if a process is working on it, or was when it crashed; false if the run is queued. */
  readonly isTaken: boolean;
}

/**
 * Returns the unfinished runs in the file of a `sqliteRunner`, oldest first. Read-only: it claims none of them, whether or
 * not a process is working on them. A missing file contains no runs.
 * @throws AgentError with the codes of `sqliteStore`.
 */
export function openRuns(file: string): readonly OpenRun[] {
  const path = read(file, text, 'file');
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return [];
  try {
    const db = new (sqlite().DatabaseSync)(path, { readOnly: true, timeout: 5000 });
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
    throw storeError(error, path, 'runs');
  }
}
