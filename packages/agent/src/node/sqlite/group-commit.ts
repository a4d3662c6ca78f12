import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { backoff } from '../../values/backoff.ts';
import { AgentError } from '../../values/errors.ts';
import { isBusy, storeError } from './database-error.ts';
import type { OnWrite } from './write-moment.ts';

/** Delays while another process has the file locked, usually for milliseconds. */
const busyPause = { baseMs: 1, maxMs: 50 };

export interface GroupCommitOptions {
  readonly db: DatabaseSync;
  /** Path for error messages. */
  readonly file: string;
  /** Content of the file, for error messages. Default `sessions`. */
  readonly contents?: string;
  /** Maximum time to wait for another process that is writing, in milliseconds. */
  readonly busyMs: number;
  readonly onWrite: OnWrite;
  /** Called before a transaction with a durable job; if it throws, no job of the transaction runs. */
  readonly beforeDurable?: () => void;
  /** Called after a rollback, before any of its jobs runs again. */
  readonly onRollback: () => void;
  /** Called in a transaction before its jobs, if another connection has written since the last one. */
  readonly onForeignWrite: () => void;
}

/** A function to run in a transaction, and the promise of its caller. */
interface CommitJob {
  readonly run: () => unknown;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Groups writes to a database. Jobs added in one turn of the event loop share a transaction, which is much cheaper than
 * one transaction each; only a writer known to be the only one does not wait for others. Invariants:
 *
 * G1 jobs run in the order in which they were added, each once or not at all;
 * G2 no caller gets a result before the transaction is committed; with at least one durable job, it is committed to
 * disk;
 * G3 a job that throws an AgentError has changed nothing and does not affect other jobs; after any other error the
 * whole transaction is rolled back and each job is retried alone, so that only the failing job fails;
 * G4 waiting for another process that is writing does not block the event loop and has a time limit.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #version: StatementSync;
  /** Changes when another connection writes. */
  #lastVersion: unknown;
  #jobs: CommitJob[] = [];
  #isScheduled = false;
  #isDurable = false;
  /** Time at which the pending jobs fail, by the monotonic clock; undefined while no other process is writing. */
  #deadline: number | undefined;
  #tries = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('BEGIN IMMEDIATE');
    this.#commit = options.db.prepare('COMMIT');
    this.#version = options.db.prepare('PRAGMA data_version');
  }

  /** Runs a function in the next transaction. A durable job and all jobs before it survive a power failure. */
  add<Value>(run: () => Value, durable = false): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ run, durable, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /**
   * Runs a function immediately, in its own transaction. Returns a promise only if it has to run later, because other
   * jobs are pending or another process is writing.
   * @throws what {@link add} would reject with.
   */
  now(run: () => void, durable = false): Promise<void> | undefined {
    if (this.#isScheduled) return this.add(run, durable);
    try {
      this.#prepare(durable);
    } catch (error) {
      if (isBusy(error)) return this.add(run, durable);
      throw this.#errorOf(error);
    }
    try {
      run();
      this.#options.onWrite('commit');
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      throw AgentError.is(error) ? error : this.#errorOf(error);
    }
    this.#options.onWrite('done');
    return undefined;
  }

  /** Runs the pending jobs immediately. */
  flush(): void {
    const jobs = this.#jobs.splice(0);
    if (jobs.length === 0) return;
    try {
      this.#prepare(jobs.some(({ durable }) => durable));
    } catch (error) {
      return this.#wait(jobs, error);
    }
    this.#deadline = undefined;
    this.#tries = 0;
    if (!this.#together(jobs)) for (const job of jobs) this.#alone(job);
  }

  #errorOf(thrown: unknown): AgentError {
    return storeError(thrown, this.#options.file, this.#options.contents);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  #prepare(durable: boolean): void {
    if (durable !== this.#isDurable) {
      // Takes effect with the next transaction. A commit with FULL also makes earlier commits durable.
      this.#options.db.exec(durable ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
      this.#isDurable = durable;
    }
    if (durable) this.#options.beforeDurable?.();
    this.#options.onWrite('begin');
    this.#begin.run();
    const version = this.#version.get()?.['data_version'];
    if (version !== this.#lastVersion) this.#options.onForeignWrite();
    this.#lastVersion = version;
  }

  /** Runs all jobs in the current transaction. Returns false if it was rolled back. */
  #together(jobs: readonly CommitJob[]): boolean {
    const outcomes: (() => void)[] = [];
    try {
      for (const job of jobs) outcomes.push(outcome(job));
      this.#options.onWrite('commit');
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      if (jobs.length > 1) return false;
      jobs[0]?.reject(this.#errorOf(error));
      return true;
    }
    this.#options.onWrite('done');
    for (const tell of outcomes) tell();
    return true;
  }

  #alone(job: CommitJob): void {
    try {
      this.#prepare(job.durable);
    } catch (error) {
      return job.reject(this.#errorOf(error));
    }
    this.#together([job]);
  }

  #rollBack(): void {
    if (this.#options.db.isTransaction) this.#options.db.exec('ROLLBACK');
    this.#options.onRollback();
  }

  /** Retries after a delay if another process is writing. */
  #wait(jobs: readonly CommitJob[], error: unknown): void {
    const now = performance.now();
    this.#deadline ??= now + this.#options.busyMs;
    if (!isBusy(error) || now >= this.#deadline) {
      this.#deadline = undefined;
      this.#tries = 0;
      for (const { reject } of jobs) reject(this.#errorOf(error));
      return;
    }
    this.#jobs.push(...jobs);
    this.#tries += 1;
    // Jobs added in the meantime wait for the same retry.
    this.#isScheduled = true;
    setTimeout(
      () => {
        this.#isScheduled = false;
        this.flush();
      },
      backoff(busyPause, this.#tries),
    );
  }
}

/** Runs a job and returns a function that settles its promise. */
function outcome({ run, resolve, reject }: CommitJob): () => void {
  try {
    const value = run();
    return () => resolve(value);
  } catch (error) {
    if (AgentError.is(error)) return () => reject(error);
    throw error;
  }
}
