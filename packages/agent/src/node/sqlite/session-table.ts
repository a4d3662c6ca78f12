import type { Parent, SessionInfo, Tally } from '../../session-info.ts';
import { sessionInfo, titleOf } from '../../session-info.ts';
import type { ListOptions, Origin, Retention, SessionPage } from '../../store.ts';
import { cursorOf, inUse, pageSize, placeOf } from '../../store.ts';
import type { OwnerRow } from './owner.ts';
import { buried, isAlive, lockFiles } from './owner.ts';
import type { SessionLog } from './session-log.ts';
import type { Statements } from './statements.ts';

interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly created: number;
  /** Nothing before it has an event. */
  readonly updated: number | null;
  readonly title: string | null;
  readonly parent: string | null;
  readonly parent_seq: number | null;
}

/** A session that has an event. */
type ListedRow = SessionRow & { readonly updated: number };

function isListed(row: SessionRow): row is ListedRow {
  return row.updated !== null;
}

/** The sessions of the database and who holds them. What writes has to be called within a transaction. */
export class SessionTable {
  readonly #sql: Statements;
  readonly #log: SessionLog;
  readonly #file: string;

  constructor(sql: Statements, log: SessionLog, file: string) {
    this.#sql = sql;
    this.#log = log;
    this.#file = file;
  }

  /** Takes a session over from whoever is dead, or from this process itself. @throws AgentError `in_use`. */
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

  /** Gives back all that a process holds, at its end. */
  release(lock: string): void {
    this.#sql.run('UPDATE sessions SET owner = NULL WHERE owner = ?', lock);
    this.#sql.run('DELETE FROM owners WHERE lock = ?', lock);
  }

  /** Clears away what processes that have died left behind. `lock` is the caller's own. */
  sweep(lock: string): void {
    const known = this.#sql.rows<OwnerRow>('SELECT * FROM owners').map((row) => row.lock);
    for (const other of new Set([...known, ...lockFiles(this.#file)]))
      if (other !== lock && buried(this.#file, other)) this.release(other);
  }

  ids(): string[] {
    return this.#sql
      .rows<{ id: string }>('SELECT id FROM sessions WHERE updated > 0 ORDER BY key')
      .map(({ id }) => id);
  }

  list(options: ListOptions): SessionPage {
    const { updated, key } = options.after === undefined ? beyond : placeOf(options.after);
    const limit = pageSize(options);
    const rows = this.#sql.rows<ListedRow>(selectPage, updated, key, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const alive = new Map<string, boolean>();
    return {
      sessions: page.map((row) => this.#info(row, alive)),
      ...(last !== undefined && rows.length > limit && { next: cursorOf(last) }),
    };
  }

  info(sessionId: string): SessionInfo | undefined {
    const row = this.#row(sessionId);
    return row !== undefined && isListed(row) ? this.#info(row, new Map()) : undefined;
  }

  rename(sessionId: string, title: string): boolean {
    const given = titleOf(title) || null;
    return this.#sql.run('UPDATE sessions SET title = ? WHERE id = ? AND updated > 0', given, sessionId) > 0;
  }

  /** @throws AgentError `in_use` when another process that is alive holds the session. */
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

  /** Removes sessions that were claimed and never had an event. */
  removeEmpty(): void {
    const rows = this.#sql.rows<SessionRow>('SELECT * FROM sessions WHERE updated IS NULL');
    const alive = new Map<string, boolean>();
    for (const row of rows) if (row.owner === null || !this.#isAlive(row.owner, alive)) this.#removeRow(row);
  }

  #insert(sessionId: string, parent: Parent | undefined, now: number): number {
    return this.#sql.insert(insertSession, sessionId, now, parent?.sessionId ?? null, parent?.seq ?? null);
  }

  #row(sessionId: string): SessionRow | undefined {
    return this.#sql.row<SessionRow>('SELECT * FROM sessions WHERE id = ?', sessionId);
  }

  #info(row: ListedRow, alive: Map<string, boolean>): SessionInfo {
    const { id, parent, parent_seq: seq, owner } = row;
    const head = { ...row, parent: parent === null || seq === null ? undefined : { sessionId: parent, seq } };
    const isRunning = owner !== null && this.#isAlive(owner, alive);
    return sessionInfo(head, this.#tally(id, row.key), isRunning ? 'running' : 'interrupted');
  }

  /** One session that is damaged must not keep the others from being listed; whoever reads it is told. */
  #tally(sessionId: string, key: number): Tally {
    try {
      return this.#log.tally(sessionId, key);
    } catch {
      return this.#log.notedTally(key);
    }
  }

  #isAlive(lock: string, known: Map<string, boolean>): boolean {
    const alive = known.get(lock) ?? isAlive(this.#file, lock);
    known.set(lock, alive);
    return alive;
  }

  /** Sees to it that no other process holds a session: one that has died holds nothing any more. */
  #free({ id, owner }: SessionRow, lock: string | undefined): void {
    if (owner === null || owner === lock) return;
    if (!buried(this.#file, owner))
      throw inUse(id, this.#sql.row<OwnerRow>('SELECT * FROM owners WHERE lock = ?', owner));
    this.release(owner);
  }

  #removeRow({ id, key }: SessionRow): void {
    this.#log.remove(id, key);
    for (const table of ['tallies', 'snapshots', 'snapshot_messages'] as const)
      this.#sql.run(`DELETE FROM ${table} WHERE session = ?`, key);
    this.#sql.run('DELETE FROM sessions WHERE key = ?', key);
  }
}

const nextEpoch = "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value AS epoch";
const insertSession = 'INSERT INTO sessions (id, epoch, created, parent, parent_seq) VALUES (?, 0, ?, ?, ?)';
const selectPage =
  'SELECT * FROM sessions WHERE (updated, key) < (?, ?) ORDER BY updated DESC, key DESC LIMIT ?';
const selectOld = `
  SELECT * FROM (SELECT * FROM sessions WHERE updated > 0 ORDER BY updated DESC, key DESC LIMIT -1 OFFSET ?)
  WHERE updated <= ?`;

/** Before all sessions of the list. */
const beyond = { updated: Number.MAX_SAFE_INTEGER, key: Number.MAX_SAFE_INTEGER } as const;
