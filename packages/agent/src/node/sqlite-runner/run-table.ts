import type { ClaimedRun, NewRun, RunEndState, RunRecord } from '../../runner/inbox.ts';
import { fencedRun } from '../../runner/inbox.ts';
import { removeDeadLock } from '../sqlite/owner.ts';
import type { Statements } from '../sqlite/statements.ts';

interface OpenRow {
  readonly number: number;
  readonly id: string;
  readonly input: string;
}

interface RunRow {
  readonly state: 'open' | 'done' | 'failed' | 'cancelled';
  readonly outcome: string | null;
  readonly owner: string | null;
  readonly epoch: number;
}

/** Number of runs that one transaction claims or removes. */
const batch = 100;

/** The runs in the database. Methods that write must be called in a transaction. */
export class RunTable {
  readonly #sql: Statements;
  readonly #file: string;

  constructor(sql: Statements, file: string) {
    this.#sql = sql;
    this.#file = file;
  }

  /** Adds a run unless its id exists or its queue contains more unfinished runs that are due. */
  add(run: NewRun, maxAhead: number, now: number): 'exists' | 'busy' | 'added' {
    if (this.#sql.row('SELECT 1 FROM runs WHERE id = ?', run.runId) !== undefined) return 'exists';
    const queue = run.key ?? null;
    if (this.#sql.row(nextOfQueue, queue, now, maxAhead) !== undefined) return 'busy';
    this.#sql.run(insertRun, run.runId, queue, run.input, run.dueAt ?? 0);
    return 'added';
  }

  /** Claims a run for an owner if it is free, due and first in its queue. */
  claim(runId: string, lock: string, now: number): ClaimedRun | undefined {
    const row = this.#sql.row<OpenRow>(`${selectFree} AND r.id = ?2`, now, runId);
    return row && this.#claimed(row, lock);
  }

  /** Claims the next run in the queue of a run, if one is due and none is being worked on. */
  claimNext(runId: string, lock: string, now: number): ClaimedRun | undefined {
    const row = this.#sql.row<OpenRow>(
      `${selectFree} AND r.queue = (SELECT queue FROM runs WHERE id = ?2)`,
      now,
      runId,
    );
    return row && this.#claimed(row, lock);
  }

  /** Claims some of the free runs that are due, after releasing those of dead processes. */
  claimDue(lock: string, now: number): readonly ClaimedRun[] {
    for (const { owner } of this.#sql.rows<{ owner: string }>(selectOwners, lock))
      if (removeDeadLock(this.#file, owner)) this.releaseAll(owner);
    const rows = this.#sql.rows<OpenRow>(`${selectFree} ORDER BY r.number LIMIT ${batch}`, now);
    return rows.map((row) => this.#claimed(row, lock));
  }

  release(run: ClaimedRun): void {
    this.#sql.run(
      "UPDATE runs SET owner = NULL WHERE id = ? AND epoch = ? AND state = 'open'",
      run.runId,
      run.epoch,
    );
  }

  releaseAll(lock: string): void {
    this.#sql.run("UPDATE runs SET owner = NULL WHERE owner = ? AND state = 'open'", lock);
  }

  /** Ends a run. @throws AgentError `fenced`. */
  finish(run: ClaimedRun, { state, text }: RunEndState, now: number): void {
    this.#end(this.#own(run), state, text, now);
  }

  /** Cancels a run. Returns false if it has already ended. */
  cancel(runId: string, now: number): boolean {
    const number = this.#open(runId);
    if (number === undefined) return false;
    this.#end(number, 'cancelled', null, now);
    return true;
  }

  signal(runId: string, name: string, text: string): boolean {
    const number = this.#open(runId);
    if (number === undefined) return false;
    return this.#sql.run('INSERT OR IGNORE INTO signals VALUES (?, ?, ?)', number, name, text) === 1;
  }

  signalled(runId: string, name: string): string | null | undefined {
    return this.#sql.row<{ text: string | null }>(selectSignal, runId, name)?.text;
  }

  /** Stops waiting for a signal unless it has arrived. @throws AgentError `fenced`. */
  giveUp(run: ClaimedRun, name: string): string | null {
    this.#sql.run('INSERT OR IGNORE INTO signals VALUES (?, ?, NULL)', this.#own(run), name);
    return this.signalled(run.runId, name) ?? null;
  }

  recordOf(runId: string): RunRecord | undefined {
    const row = this.#sql.row<RunRow>(selectRun, runId);
    if (row === undefined) return undefined;
    const { state, outcome, owner, epoch } = row;
    if (state === 'open') return owner === null ? { state: 'queued' } : { state: 'running', epoch };
    return state === 'cancelled' ? { state } : { state, text: outcome ?? 'null' };
  }

  /** Removes some of the ended runs that ended before `oldest` or exceed `maxRuns`. Returns false if there are no more. */
  prune(oldest: number, maxRuns: number): boolean {
    return this.#sql.run(deleteEnded, oldest) + this.#sql.run(deleteSurplus, maxRuns) > 0;
  }

  #claimed({ number, id, input }: OpenRow, lock: string): ClaimedRun {
    const { epoch } = this.#sql.row<{ epoch: number }>(nextEpoch) ?? { epoch: 0 };
    this.#sql.run('UPDATE runs SET owner = ?, epoch = ? WHERE number = ?', lock, epoch, number);
    return { runId: id, epoch, input };
  }

  /** Returns the number of a run if this process may write to it. Called in the transaction of that write. */
  #own({ runId, epoch }: ClaimedRun): number {
    const row = this.#sql.row<{ number: number }>(selectOwn, runId, epoch);
    if (row === undefined) throw fencedRun(runId);
    return row.number;
  }

  #open(runId: string): number | undefined {
    const sql = "SELECT number FROM runs WHERE id = ? AND state = 'open'";
    return this.#sql.row<{ number: number }>(sql, runId)?.number;
  }

  #end(number: number, state: string, outcome: string | null, now: number): void {
    this.#sql.run(endRun, state, outcome, Math.floor(now), number);
    this.#sql.run('DELETE FROM signals WHERE run = ?', number);
  }
}

const nextOfQueue = "SELECT 1 FROM runs WHERE state = 'open' AND queue = ? AND due <= ? LIMIT 1 OFFSET ?";
const insertRun =
  "INSERT INTO runs (id, queue, version, state, input, epoch, due) VALUES (?, ?, '', 'open', ?, 0, ?)";
/** Of the runs with one key, only the first due run is free, and none while a process works on one of them. */
const selectFree = `
  SELECT r.number, r.id, r.input FROM runs r
  WHERE r.state = 'open' AND r.owner IS NULL AND r.due <= ?1 AND NOT EXISTS (
    SELECT 1 FROM runs other
    WHERE other.state = 'open' AND other.queue = r.queue
      AND (other.owner IS NOT NULL OR (other.number < r.number AND other.due <= ?1))
  )`;
const selectOwners =
  "SELECT DISTINCT owner FROM runs WHERE state = 'open' AND owner IS NOT NULL AND owner <> ?";
const nextEpoch = "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value AS epoch";
const selectOwn = "SELECT number FROM runs WHERE id = ? AND epoch = ? AND state = 'open'";
const selectSignal =
  'SELECT text FROM signals WHERE run = (SELECT number FROM runs WHERE id = ?) AND name = ?';
const selectRun = 'SELECT state, outcome, owner, epoch FROM runs WHERE id = ?';
const endRun =
  'UPDATE runs SET state = ?, outcome = ?, ended = ?, input = NULL, owner = NULL WHERE number = ?';
const deleteEnded = `
  DELETE FROM runs WHERE number IN (
    SELECT number FROM runs WHERE state <> 'open' AND ended < ? LIMIT ${batch}
  )`;
const deleteSurplus = `
  DELETE FROM runs WHERE number IN (
    SELECT number FROM runs WHERE state <> 'open' ORDER BY ended DESC, number DESC LIMIT ${batch} OFFSET ?
  )`;
