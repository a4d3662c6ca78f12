import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { backoff } from '../../values/backoff.ts';
import { AgentError } from '../../values/errors.ts';
import { isBusy, storeError } from './database-error.ts';
import type { OnWrite } from './write-moment.ts';

/** Another process holds the file for milliseconds. */
const busyPause = { baseMs: 1, maxMs: 50 };

export interface GroupCommitOptions {
  readonly db: DatabaseSync;
  /** For what goes wrong. */
  readonly file: string;
  /** What is kept in it. Default `sessions`. */
  readonly contents?: string;
  /** How long to wait for another process that writes, in milliseconds. */
  readonly busyMs: number;
  readonly onWrite: OnWrite;
  /** Called before a transaction with a durable job; when it throws, no job of it is done. */
  readonly beforeDurable?: () => void;
  /** Called when what jobs have done was taken back, before any of them is done again. */
  readonly onRollback: () => void;
  /** Called in a transaction, before its jobs, when another connection has written since the last one. */
  readonly onForeignWrite: () => void;
}

/** Something to do within a transaction, and who waits for it. */
interface CommitJob {
  readonly run: () => unknown;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes to a database. What comes in one turn of the event loop shares a transaction, which costs a fraction of one
 * for each; only a writer that is known to be alone does not wait for others. Invariants:
 *
 * G1 jobs are done in the order in which they were given, each once or not at all;
 * G2 no caller gets an answer before the transaction is committed, and with one durable job it is committed to the disk;
 * G3 a job that throws an AgentError has changed nothing and harms no other; when anything else goes wrong the
 *    whole transaction is taken back and every job is tried alone, so that one that cannot be done fails alone;
 * G4 another process that writes is waited for without holding up the event loop, and not for ever.
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
  /** When the jobs at hand count as failed, by the monotonic clock; none while no other process is writing. */
  #deadline: number | undefined;
  #tries = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('BEGIN IMMEDIATE');
    this.#commit = options.db.prepare('COMMIT');
    this.#version = options.db.prepare('PRAGMA data_version');
  }

  /** Does something in the next transaction. A durable job outlives a power cut, as does all before it. */
  add<Value>(run: () => Value, durable = false): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ run, durable, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /**
   * Does something at once, in a transaction of its own. Only when something waits, or another process writes, is it
   * done later, and there is a promise to wait for.
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

  /** Does at once what waits. */
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
      // In force from the next transaction on; one that is committed FULL takes with it what was not.
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

  /** All jobs in the transaction that has begun. False: it was taken back. */
  #together(jobs: readonly CommitJob[]): boolean {
    const told: (() => void)[] = [];
    try {
      for (const job of jobs) told.push(outcome(job));
      this.#options.onWrite('commit');
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      if (jobs.length > 1) return false;
      jobs[0]?.reject(this.#errorOf(error));
      return true;
    }
    this.#options.onWrite('done');
    for (const tell of told) tell();
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

  /** Tries again a little later when another process is writing. */
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
    // Until then nothing else is tried: what comes meanwhile joins those that wait.
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

/** Does a job; what it gives is told later. */
function outcome({ run, resolve, reject }: CommitJob): () => void {
  try {
    const value = run();
    return () => resolve(value);
  } catch (error) {
    if (AgentError.is(error)) return () => reject(error);
    throw error;
  }
}
