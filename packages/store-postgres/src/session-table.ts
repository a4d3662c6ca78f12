import type { SessionInfo } from '@cobbler/agent';
import type {
  ListOptions,
  Origin,
  Parent,
  Retention,
  SessionPage,
  SessionStats,
  Share,
  ShareLevel,
} from '@cobbler/agent/store';
import {
  changedShares,
  cursorOf,
  emptyStats,
  isSessionId,
  pageSize,
  parseCursor,
  sessionInfo,
  sessionInUse,
  titleOf,
} from '@cobbler/agent/store';
import type { Connection, Database } from './database.ts';
import type { PostgresOwnerRow } from './owner.ts';
import { aliveIn } from './owner.ts';

export interface SessionTableOptions {
  readonly db: Database;
  readonly schema: string;
  readonly leaseMs: number;
  /** True if a runner ensures that a session has one run at a time. Then no process holds sessions. */
  readonly isHeldElsewhere: boolean;
}

interface PostgresSessionRow {
  readonly key: number;
  readonly id: string;
  readonly created: number;
  readonly updated: number;
  readonly title: string | null;
  readonly parent: string | null;
  readonly parent_seq: number | null;
  readonly tally: string;
  readonly shares: string | null;
  readonly alive: boolean;
}

/** The row of a claimed session. */
export interface ClaimedRow {
  readonly epoch: number;
  readonly tally: string;
}

/** The table of sessions and of the processes that hold them. */
export class PostgresSessionTable {
  readonly #db: Database;
  readonly #schema: string;
  readonly #options: SessionTableOptions;
  /** SQL condition: true if the owner of the row `t` is alive. */
  readonly #alive: string;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#schema = options.schema;
    this.#alive = aliveIn(options.schema, options.leaseMs);
  }

  /**
   * Claims a session that is free or held by a dead process or by this one.
   * @throws AgentError `in_use`.
   */
  async claim(
    sessionId: string,
    { parent }: Origin,
    lock: string | undefined,
    now: number,
  ): Promise<ClaimedRow> {
    const [row] = await this.#db.query<ClaimedRow>(this.#claimSql(), [
      sessionId,
      lock ?? null,
      Math.floor(now),
      parent?.sessionId ?? null,
      parent?.seq ?? null,
      JSON.stringify(emptyStats()),
    ]);
    if (row === undefined) throw await this.#refusal(sessionId);
    return row;
  }

  async ids(): Promise<string[]> {
    const rows = await this.#db.query<{ id: string }>(
      `SELECT id FROM ${this.#schema}.sessions WHERE updated IS NOT NULL ORDER BY key`,
    );
    return rows.map(({ id }) => id);
  }

  async list(options: ListOptions): Promise<SessionPage> {
    const place = options.after === undefined ? undefined : parseCursor(options.after);
    const limit = pageSize(options);
    const rows = await this.#db.query<PostgresSessionRow>(
      `${this.#select()} WHERE t.updated IS NOT NULL ${place === undefined ? '' : 'AND (t.updated, t.key) < ($2::bigint, $3::bigint)'}
       ORDER BY t.updated DESC, t.key DESC LIMIT $1`,
      [limit + 1, ...(place === undefined ? [] : [place.updated, place.key])],
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      sessions: page.map((row) => this.#info(row)),
      ...(last !== undefined && rows.length > limit && { next: cursorOf(last) }),
    };
  }

  async info(sessionId: string): Promise<SessionInfo | undefined> {
    if (!isSessionId(sessionId)) return undefined;
    const [row] = await this.#db.query<PostgresSessionRow>(
      `${this.#select()} WHERE t.id = $1 AND t.updated IS NOT NULL`,
      [sessionId],
    );
    return row && this.#info(row);
  }

  async rename(sessionId: string, title: string): Promise<boolean> {
    if (!isSessionId(sessionId)) return false;
    const rows = await this.#db.query(
      `UPDATE ${this.#schema}.sessions SET title = $2 WHERE id = $1 AND updated IS NOT NULL RETURNING 1`,
      [sessionId, titleOf(title) || null],
    );
    return rows.length > 0;
  }

  /** Each change locks the row first, so that none undoes another. */
  async share(sessionId: string, user: string, may: ShareLevel | undefined): Promise<boolean> {
    if (!isSessionId(sessionId)) return false;
    const s = this.#schema;
    return await this.#db.transaction(async (connection) => {
      const [row] = await connection.query<Pick<PostgresSessionRow, 'key' | 'shares'>>(
        `SELECT key, shares FROM ${s}.sessions WHERE id = $1 AND updated IS NOT NULL FOR UPDATE`,
        [sessionId],
      );
      if (row === undefined) return false;
      const shares = changedShares(sharesOf(row), user, may);
      const values = [row.key, shares === undefined ? null : JSON.stringify(shares)];
      await connection.query(`UPDATE ${s}.sessions SET shares = $2 WHERE key = $1`, values);
      return true;
    });
  }

  /** Deletes a session. @throws AgentError `in_use` if another live process holds it. */
  async remove(sessionId: string, lock: string | undefined): Promise<boolean> {
    if (!isSessionId(sessionId)) return false;
    const removed = await this.#db.transaction((connection) =>
      this.#removeIf(connection, `t.id = $1 AND (t.owner = $2 OR NOT ${this.#alive})`, [
        sessionId,
        lock ?? null,
      ]),
    );
    if (removed.length > 0) return removed[0]?.updated !== null;
    const [row] = await this.#db.query(`SELECT 1 FROM ${this.#schema}.sessions WHERE id = $1`, [sessionId]);
    if (row === undefined) return false;
    throw await this.#refusal(sessionId);
  }

  async prune({ olderThanMs = 0, keepLast = 0 }: Retention, now: number): Promise<string[]> {
    const old = await this.#db.query<PostgresSessionRow>(
      `SELECT * FROM (${this.#select()} WHERE t.updated IS NOT NULL
         ORDER BY t.updated DESC, t.key DESC OFFSET $1) AS listed WHERE updated <= $2`,
      [Math.floor(keepLast), Math.floor(now - olderThanMs)],
    );
    const pruned: string[] = [];
    for (const row of old) {
      if (this.#isRunning(row)) continue;
      // Only if it is unchanged: another process may have continued it.
      const removed = await this.#db.transaction((connection) =>
        this.#removeIf(connection, `t.key = $1 AND t.updated = $2 AND NOT ${this.#alive}`, [
          row.key,
          row.updated,
        ]),
      );
      if (removed.length > 0) pruned.push(row.id);
    }
    return pruned;
  }

  /** Deletes sessions that were claimed before a time and never had an event. */
  async removeEmpty(before: number): Promise<void> {
    await this.#db.query(
      `DELETE FROM ${this.#schema}.sessions t WHERE t.updated IS NULL AND t.created < $1 AND NOT ${this.#alive}`,
      [Math.floor(before)],
    );
  }

  #claimSql(): string {
    const s = this.#schema;
    // On a conflict, the row is locked before the next epoch is taken, so the new epoch is larger than the old one.
    return `
      INSERT INTO ${s}.sessions AS t (id, epoch, owner, created, parent, parent_seq, tally)
      VALUES ($1, nextval('${s}.epochs'), $2::text, $3, $4, $5, $6)
      ON CONFLICT (id) DO UPDATE SET epoch = nextval('${s}.epochs'), owner = EXCLUDED.owner
      WHERE t.owner IS NULL OR t.owner = EXCLUDED.owner OR EXCLUDED.owner IS NULL OR NOT ${this.#alive}
      RETURNING t.epoch, t.tally`;
  }

  /**
   * Deletes the session's row first, in a statement of its own, so that events appended before the lock was acquired
   * are visible to the statements that delete them.
   */
  async #removeIf(
    connection: Connection,
    condition: string,
    values: readonly unknown[],
  ): Promise<readonly { readonly key: number; readonly updated: number | null }[]> {
    const s = this.#schema;
    const rows = await connection.query<{ key: number; updated: number | null }>(
      `DELETE FROM ${s}.sessions t WHERE ${condition} RETURNING t.key, t.updated`,
      values,
    );
    const keys = rows.map(({ key }) => key);
    if (keys.length > 0)
      for (const table of ['events', 'snapshots', 'snapshot_messages'] as const)
        await connection.query(`DELETE FROM ${s}.${table} WHERE session = ANY ($1::bigint[])`, [keys]);
    return rows;
  }

  async #refusal(sessionId: string): Promise<Error> {
    const s = this.#schema;
    const [owner] = await this.#db.query<PostgresOwnerRow>(
      `SELECT o.lock, o.pid, o.host, o.since FROM ${s}.owners o JOIN ${s}.sessions t ON t.owner = o.lock WHERE t.id = $1`,
      [sessionId],
    );
    return sessionInUse(sessionId, owner);
  }

  #select(): string {
    return `SELECT t.key, t.id, t.created, t.updated, t.title, t.parent, t.parent_seq, t.tally, t.shares, ${this.#alive} AS alive
      FROM ${this.#schema}.sessions t`;
  }

  #info(row: PostgresSessionRow): SessionInfo {
    const { id, title, created, updated, parent, parent_seq: seq, tally } = row;
    const head = { id, title, created, updated, parent: parentOf(parent, seq), shares: sharesOf(row) };
    // With a runner, an unfinished run continues even if the process that ran it crashed.
    const isRunning = this.#options.isHeldElsewhere || row.alive;
    return sessionInfo(head, JSON.parse(tally) as SessionStats, isRunning ? 'running' : 'interrupted');
  }

  #isRunning({ alive, tally }: PostgresSessionRow): boolean {
    return this.#options.isHeldElsewhere ? (JSON.parse(tally) as SessionStats).ended === null : alive;
  }
}

function sharesOf({ shares }: Pick<PostgresSessionRow, 'shares'>): readonly Share[] | undefined {
  return shares === null ? undefined : (JSON.parse(shares) as readonly Share[]);
}

function parentOf(sessionId: string | null, seq: number | null): Parent | undefined {
  return sessionId === null || seq === null ? undefined : { sessionId, seq };
}
