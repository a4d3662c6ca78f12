import type { DatabaseSync } from 'node:sqlite';
import type { ClaimedRun, Freed, Inbox, NewRun, Put, RunEndState, RunRecord } from '../../runner/inbox.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import { storeError } from '../sqlite/database-error.ts';
import type { FileKind } from '../sqlite/database-file.ts';
import { fileWatch, openDatabase } from '../sqlite/database-file.ts';
import { scalar } from '../sqlite/engine.ts';
import { GroupCommit } from '../sqlite/group-commit.ts';
import { lockFiles, Owner, removeDeadLock } from '../sqlite/owner.ts';
import { Statements } from '../sqlite/statements.ts';
import type { OnWrite } from '../sqlite/write-moment.ts';
import { RunTable } from './run-table.ts';

export interface SqliteInboxOptions {
  readonly file: string;
  readonly runtime: Runtime;
  readonly retention: { readonly maxAgeMs: number; readonly maxRuns: number };
  readonly busyMs: number;
  readonly lookMs: number;
  readonly onWrite: OnWrite;
}

/** Number of ended runs after which old runs are removed. */
const prunedEvery = 100;

/** An inbox in a file that several processes can use at the same time. */
export class SqliteInbox implements Inbox {
  readonly durable = true;
  readonly lookMs: number;
  readonly #options: SqliteInboxOptions;
  readonly #db: DatabaseSync;
  readonly #commit: GroupCommit;
  readonly #table: RunTable;
  readonly #checkFile: () => void;
  #owner: Owner | undefined;
  #lastVersion: unknown;
  #endedSincePruning = 0;
  #isClosing = false;

  /** Opens the inbox. @throws AgentError with the codes of `sqliteStore`. */
  constructor(options: SqliteInboxOptions) {
    const { file, busyMs, lookMs, onWrite } = options;
    this.#options = options;
    this.lookMs = lookMs;
    this.#db = openDatabase(file, { maxBytes: undefined, onWrite, migrations: runMigrations, kind: runFile });
    this.#checkFile = fileWatch(file);
    this.#table = new RunTable(new Statements(this.#db), file);
    this.#commit = new GroupCommit({
      db: this.#db,
      file,
      contents: 'runs',
      busyMs,
      onWrite,
      // No data is cached between transactions.
      onRollback() {},
      onForeignWrite() {},
    });
    this.#prune();
  }

  put(run: NewRun, maxAhead: number): Promise<Put> {
    return this.#write(() => {
      this.#checkFile();
      const now = this.#options.runtime.now();
      const result = this.#table.add(run, maxAhead, now);
      if (result !== 'added') return { result };
      const claimed = this.#table.claim(run.runId, this.#lock(), now);
      return { result: 'put', ...defined({ run: claimed }) };
    });
  }

  claimDue(): Promise<readonly ClaimedRun[]> {
    return this.#write(() => this.#table.claimDue(this.#lock(), this.#options.runtime.now()), false);
  }

  release(run: ClaimedRun): Promise<void> {
    return this.#write(() => this.#table.release(run), false);
  }

  async ack(run: ClaimedRun, outcome: RunEndState): Promise<Freed> {
    const freed = await this.#write(() => {
      this.#table.finish(run, outcome, this.#options.runtime.now());
      return this.#freed(run.runId);
    });
    this.#countEnded();
    return freed;
  }

  async cancel(runId: string): Promise<Freed> {
    const freed = await this.#write(() => {
      const isOver = this.#table.cancel(runId, this.#options.runtime.now());
      return isOver ? this.#freed(runId) : { isOver };
    });
    this.#countEnded();
    return freed;
  }

  signal(runId: string, name: string, text: string): Promise<boolean> {
    return this.#write(() => this.#table.signal(runId, name, text));
  }

  signalled(runId: string, name: string): string | null | undefined {
    return this.#read(() => this.#table.signalled(runId, name));
  }

  giveUp(run: ClaimedRun, name: string): Promise<string | null> {
    return this.#write(() => this.#table.giveUp(run, name));
  }

  standing(runId: string): RunRecord | undefined {
    return this.#read(() => this.#table.recordOf(runId));
  }

  hasNews(): boolean {
    const version = this.#read(() => scalar(this.#db, 'PRAGMA data_version'));
    if (version === this.#lastVersion) return false;
    this.#lastVersion = version;
    return true;
  }

  async close(): Promise<void> {
    const last = this.#write(() => this.#owner && this.#table.releaseAll(this.#owner.row.lock), false);
    this.#isClosing = true;
    // Pending writes complete first. Their failures have already been reported to their callers.
    await last.catch(() => undefined);
    this.#db.close();
    this.#owner?.close();
  }

  #freed(runId: string): Freed {
    const next = this.#table.claimNext(runId, this.#lock(), this.#options.runtime.now());
    return { isOver: true, ...defined({ next }) };
  }

  /** Returns the lock of this process, acquired on first use, in a transaction: no other process then checks the files. */
  #lock(): string {
    if (this.#owner === undefined) {
      const { file } = this.#options;
      this.#owner = Owner.begin(file);
      const own = this.#owner.row.lock;
      for (const lock of lockFiles(file)) if (lock !== own) removeDeadLock(file, lock);
    }
    return this.#owner.row.lock;
  }

  #countEnded(): void {
    this.#endedSincePruning += 1;
    if (this.#endedSincePruning >= prunedEvery) this.#prune();
  }

  /** Removes old runs in batches, so that other writes can run in between. */
  #prune(): void {
    this.#endedSincePruning = 0;
    const { runtime, retention } = this.#options;
    const oldest = Math.floor(runtime.now() - retention.maxAgeMs);
    this.#write(() => this.#table.prune(oldest, retention.maxRuns), false).then(
      (hasMore) => hasMore && !this.#isClosing && this.#prune(),
      // Old runs remain until the next round, so the error is ignored.
      () => undefined,
    );
  }

  #read<Value>(read: () => Value): Value {
    if (this.#isClosing) throw closedError(this.#options.file);
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.#options.file, 'runs');
    }
  }

  #write<Value>(run: () => Value, isDurable = true): Promise<Value> {
    if (this.#isClosing) return Promise.reject(closedError(this.#options.file));
    return this.#commit.add(run, isDurable);
  }
}

function closedError(file: string): AgentError {
  const message = `The runner for ${file} has been closed.`;
  return new AgentError({ kind: 'invalid', code: 'closed', message });
}

/** "CobR" in ASCII. */
const runFile: FileKind = { applicationId: 0x436f6252, contents: 'runs' };

/** A released migration never changes; a change to the schema is a new migration, as for sessions. */
const runMigrations: readonly string[] = [
  `
  CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counters VALUES ('epoch', 0);

  CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order in which they were started
    id TEXT NOT NULL UNIQUE,
    queue TEXT,                -- runs of one queue are worked off one after another
    version TEXT NOT NULL,     -- of the routine
    state TEXT NOT NULL,       -- open, done, failed, cancelled
    input TEXT,                -- JSON; goes when the run is over
    outcome TEXT,              -- JSON of the output or of the error
    owner TEXT,                -- lock of the process that works on it
    epoch INTEGER NOT NULL,    -- of the one owner that may write
    ended INTEGER              -- milliseconds since 1970
  ) STRICT;
  CREATE INDEX open_queues ON runs (queue, number) WHERE state = 'open';
  CREATE INDEX open_owners ON runs (owner, number) WHERE state = 'open';
  CREATE INDEX ended_runs ON runs (ended) WHERE state <> 'open';

  CREATE TABLE steps (
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,        -- value, error, sleep, wait
    text TEXT,                 -- JSON of a value or of an error
    at INTEGER                 -- when a sleep or a wait is over, milliseconds since 1970
  ) STRICT;
  CREATE UNIQUE INDEX step_names ON steps (run, name);

  CREATE TABLE signals (
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT                  -- JSON; nothing when waiting was given up before it came
  ) STRICT;
  CREATE UNIQUE INDEX signal_names ON signals (run, name);
  `,
  // The log of a session has what its steps did. An unfinished run continues from there, so its steps are not needed.
  `
  DROP TABLE steps;
  ALTER TABLE runs ADD COLUMN due INTEGER NOT NULL DEFAULT 0;   -- milliseconds since 1970
  `,
];
