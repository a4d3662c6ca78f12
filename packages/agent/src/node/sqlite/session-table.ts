import type { Parent, SessionInfo, SessionStats, ShareLevel } from '../../store/session-info.ts';
import { changedShares, emptyStats, sessionInfo, titleOf } from '../../store/session-info.ts';
import type { ListOptions, Origin, Retention, SessionPage } from '../../store/store.ts';
import { cursorOf, pageSize, parseCursor, sessionInUse } from '../../store/store.ts';
import { AgentError } from '../../values/errors.ts';
import { isCorrupt, salvageAdvice } from './database-error.ts';
import type { OwnerRow } from './owner.ts';
import { isAlive, lockFiles, removeDeadLock } from './owner.ts';
import type { SessionLog } from './session-log.ts';
import type { ListedRow, SessionRow } from './session-rows.ts';
import { isIntactRow, isListed, readableRows, rowSum, sharesColumn, sharesOf } from './session-rows.ts';
import type { Statements } from './statements.ts';

/** The sessions in the database and their owners. Methods that write must be called in a transaction. */
export class SessionTable {
  readonly #sql: Statements;
  readonly #log: SessionLog;
  readonly #file: string;

  constructor(sql: Statements, log: SessionLog, file: string) {
    this.#sql = sql;
    this.#log = log;
    this.#file = file;
  }

  /**
   * Claims a session for a process. Takes it over from a dead process or from the same process.
   * @throws AgentError `in_use`.
   */
  claim(sessionId: string, { parent }: Origin, owner: OwnerRow, now: number): number {
    const found = this.#row(sessionId);
    if (found !== undefined) this.#free(found, owner.lock);
    const { lock, pid, host, since } = owner;
    this.#sql.run('INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?)', lock, pid, host, since);
    const { epoch } = this.#sql.row<{ epoch: number }>(nextEpoch) ?? { epoch: 0 };
    const key = found?.key ?? this.#insert(sessionId, parent, now);
    this.#sql.run('UPDATE sessions SET epoch = ?, owner = ? WHERE key = ?', epoch, lock, key);
    this.#log.claimed(sessionId, { key, epoch }, found?.epoch);
    return epoch;
  }

  /** Releases all sessions of a process that is ending. */
  release(lock: string): void {
    for (const row of this.#sql.rows<SessionRow>('SELECT * FROM sessions WHERE owner = ?', lock))
      if (isListed(row)) this.#noteEnd(row);
    this.#sql.run('UPDATE sessions SET owner = NULL WHERE owner = ?', lock);
    this.#sql.run('DELETE FROM owners WHERE lock = ?', lock);
  }

  /** Cleans up after processes that have crashed. `lock` is the caller's own. */
  sweep(lock: string): void {
    const known = this.#sql.rows<OwnerRow>('SELECT * FROM owners').map((row) => row.lock);
    for (const other of new Set([...known, ...lockFiles(this.#file)]))
      if (other !== lock && removeDeadLock(this.#file, other)) this.release(other);
  }

  ids(): string[] {
    return this.#rows(selectAll, (rows) => rows.sort((one, other) => one.key - other.key)).map(
      ({ id }) => id,
    );
  }

  list(options: ListOptions): SessionPage {
    const { updated, key } = options.after === undefined ? beyond : parseCursor(options.after);
    const limit = pageSize(options);
    const pageOf = (all: ListedRow[]) =>
      all
        .filter((row) => row.updated < updated || (row.updated === updated && row.key < key))
        .sort((one, other) => other.updated - one.updated || other.key - one.key)
        .slice(0, limit + 1);
    const rows = this.#rows(selectPage, pageOf, updated, key, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const alive = new Map<string, boolean>();
    return {
      sessions: page.map((row) => this.#info(row, alive)),
      ...(last !== undefined && rows.length > limit && { next: cursorOf(last) }),
    };
  }

  info(sessionId: string): SessionInfo | undefined {
    const row = this.#rowOrRemains(sessionId);
    return row !== undefined && isListed(row) ? this.#info(row, new Map()) : undefined;
  }

  rename(sessionId: string, title: string): boolean {
    const row = this.#row(sessionId);
    if (row === undefined || !isListed(row)) return false;
    const given = titleOf(title) || null;
    const sum = rowSum({ ...row, title: given });
    this.#sql.run('UPDATE sessions SET title = ?, sum = ? WHERE key = ?', given, sum, row.key);
    return true;
  }

  share(sessionId: string, user: string, may: ShareLevel | undefined): boolean {
    const row = this.#row(sessionId);
    if (row === undefined || !isListed(row)) return false;
    const shares = sharesColumn(row.id, changedShares(sharesOf(row), user, may));
    this.#sql.run('UPDATE sessions SET shares = ? WHERE key = ?', shares, row.key);
    return true;
  }

  /** Stores a message for the run of another live process. Returns false if there is none. */
  send(sessionId: string, message: string, lock: string | undefined): boolean {
    const row = this.#row(sessionId);
    if (row === undefined || row.owner === null || row.owner === lock) return false;
    if (!isAlive(this.#file, row.owner)) return false;
    this.#sql.run('INSERT INTO mail (session, epoch, message) VALUES (?, ?, ?)', row.key, row.epoch, message);
    return true;
  }

  /** True if a session may have messages. */
  hasMail(sessionId: string): boolean {
    return this.#sql.row(selectMail, sessionId) !== undefined;
  }

  /** Removes the messages of a session, and returns those to the run of the process with this lock. */
  receive(sessionId: string, lock: string | undefined): string[] {
    const row = this.#row(sessionId);
    if (row === undefined || row.owner !== lock) return [];
    const mail = this.#sql.rows<MailRow>('SELECT * FROM mail WHERE session = ? ORDER BY number', row.key);
    this.#sql.run('DELETE FROM mail WHERE session = ?', row.key);
    return mail.filter(({ epoch }) => epoch === row.epoch).map(({ message }) => message);
  }

  /** Removes a session. @throws AgentError `in_use` if another live process holds the session. */
  remove(sessionId: string, lock: string | undefined): boolean {
    const row = this.#row(sessionId);
    if (row === undefined) return false;
    this.#free(row, lock);
    this.#removeRow(row);
    return isListed(row);
  }

  prune({ olderThanMs = 0, keepLast = 0 }: Retention, now: number): string[] {
    const rows = this.#sql.rows<SessionRow>(selectOld, Math.floor(keepLast), now - olderThanMs);
    const alive = new Map<string, boolean>();
    const old = rows.filter(({ owner }) => owner === null || !this.#isAlive(owner, alive));
    for (const row of old) this.#removeRow(row);
    return old.map(({ id }) => id);
  }

  /** Removes sessions that were claimed but never had an event. */
  removeEmpty(): void {
    const rows = this.#sql.rows<SessionRow>('SELECT * FROM sessions WHERE updated IS NULL');
    const alive = new Map<string, boolean>();
    for (const row of rows) if (row.owner === null || !this.#isAlive(row.owner, alive)) this.#removeRow(row);
  }

  #insert(sessionId: string, parent: Parent | undefined, now: number): number {
    const head = { id: sessionId, created: now, title: null };
    const row = { ...head, parent: parent?.sessionId ?? null, parent_seq: parent?.seq ?? null };
    return this.#sql.insert(insertSession, sessionId, now, row.parent, row.parent_seq, rowSum(row));
  }

  /** Returns the row of a session. @throws AgentError `store_damaged` if the row is damaged or missing from its index. */
  #row(sessionId: string): SessionRow | undefined {
    const row = this.#sql.row<SessionRow>('SELECT * FROM sessions WHERE id = ?', sessionId);
    const isWrong = row === undefined ? this.#log.hiddenKey(sessionId) !== undefined : !isIntactRow(row);
    if (!isWrong) return row;
    const message = `The entry for session ${sessionId} in ${this.#file} is damaged. ${salvageAdvice(this.#file)}`;
    throw new AgentError({ kind: 'invalid', code: 'store_damaged', message });
  }

  #rowOrRemains(sessionId: string): SessionRow | undefined {
    try {
      return this.#row(sessionId);
    } catch (error) {
      if (!AgentError.is(error) && !isCorrupt(error)) throw error;
      return readableRows(this.#sql, this.#log).find(({ id }) => id === sessionId);
    }
  }

  /** Returns the rows of a query; if any row is damaged or missing, applies `select` to the readable rows instead. */
  #rows(sql: string, select: (all: ListedRow[]) => ListedRow[], ...values: number[]): ListedRow[] {
    try {
      const [counts] = this.#sql.rows<{ listed: number; indexed: number }>(selectCounts);
      const rows = this.#sql.rows<ListedRow>(sql, ...values);
      if (counts?.listed === counts?.indexed && rows.every(isIntactRow)) return rows;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
    }
    return select(readableRows(this.#sql, this.#log).filter(isListed));
  }

  /** Stores the end of a session. Ignores damage: without the end, only damage to the last events would go unnoticed. */
  #noteEnd(row: SessionRow): void {
    try {
      this.#log.noteEnd(row);
    } catch (error) {
      if (!AgentError.is(error) && !isCorrupt(error)) throw error;
    }
  }

  #info(row: ListedRow, alive: Map<string, boolean>): SessionInfo {
    const { id, parent, parent_seq: seq, owner } = row;
    const origin = parent === null || seq === null ? undefined : { sessionId: parent, seq };
    const head = { ...row, parent: origin, shares: sharesOf(row) };
    const isRunning = owner !== null && this.#isAlive(owner, alive);
    return sessionInfo(head, this.#stats(id, row.key), isRunning ? 'running' : 'interrupted');
  }

  /** Returns the statistics of a session, or the last stored ones if it is damaged, so that others can still be listed. */
  #stats(sessionId: string, key: number): SessionStats {
    try {
      return this.#log.stats(sessionId, key);
    } catch {
      return this.#log.storedStats(sessionId, key) ?? emptyStats();
    }
  }

  #isAlive(lock: string, known: Map<string, boolean>): boolean {
    const alive = known.get(lock) ?? isAlive(this.#file, lock);
    known.set(lock, alive);
    return alive;
  }

  /** Ensures that no other process holds a session. Releases the sessions of a dead owner. */
  #free({ id, owner }: SessionRow, lock: string | undefined): void {
    if (owner === null || owner === lock) return;
    if (!removeDeadLock(this.#file, owner))
      throw sessionInUse(id, this.#sql.row<OwnerRow>('SELECT * FROM owners WHERE lock = ?', owner));
    this.release(owner);
  }

  #removeRow({ id, key }: SessionRow): void {
    this.#log.remove(id, key);
    for (const table of ['tallies', 'snapshots', 'snapshot_messages', 'mail'] as const)
      this.#sql.run(`DELETE FROM ${table} WHERE session = ?`, key);
    this.#sql.run('DELETE FROM sessions WHERE key = ?', key);
  }
}

interface MailRow {
  readonly epoch: number;
  readonly message: string;
}

const selectMail = 'SELECT 1 FROM mail WHERE session = (SELECT key FROM sessions WHERE id = ?)';
const nextEpoch = "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value AS epoch";
const insertSession =
  'INSERT INTO sessions (id, epoch, created, parent, parent_seq, sum) VALUES (?, 0, ?, ?, ?, ?)';
const selectAll = 'SELECT * FROM sessions WHERE updated > 0 ORDER BY key';
const selectCounts = `
  SELECT (SELECT count(*) FROM sessions NOT INDEXED) AS listed,
    (SELECT count(*) FROM sessions INDEXED BY sqlite_autoindex_sessions_1) AS indexed`;
const selectPage =
  'SELECT * FROM sessions WHERE (updated, key) < (?, ?) ORDER BY updated DESC, key DESC LIMIT ?';
const selectOld = `
  SELECT * FROM (SELECT * FROM sessions WHERE updated > 0 ORDER BY updated DESC, key DESC LIMIT -1 OFFSET ?)
  WHERE updated <= ?`;

/** A cursor before the first session of the list. */
const beyond = { updated: Number.MAX_SAFE_INTEGER, key: Number.MAX_SAFE_INTEGER } as const;
