import type { Message } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import type { SnapshotTexts } from '@cobbler/agent/store';
import { foldVersion, SnapshotPlan } from '@cobbler/agent/store';
import type { Database } from './database.ts';

interface PostgresSnapshotRow {
  readonly session: number;
  readonly seq: number;
  readonly messages: number;
  readonly state: string;
}

/** The snapshots of session states in the database. */
export class PostgresSnapshots {
  readonly #db: Database;
  readonly #schema: string;
  readonly #plan = new SnapshotPlan();

  constructor(db: Database, schema: string) {
    this.#db = db;
    this.#schema = schema;
  }

  /** Returns the snapshot of a session if it is complete and was stored by this version of the fold. */
  async read(sessionId: string): Promise<State | undefined> {
    const s = this.#schema;
    const [row] = await this.#db.query<PostgresSnapshotRow>(
      `SELECT p.session, p.seq, p.messages, p.state FROM ${s}.sessions t JOIN ${s}.snapshots p ON p.session = t.key
       WHERE t.id = $1 AND p.fold = $2 AND p.seq <= t.last`,
      [sessionId, foldVersion],
    );
    if (row === undefined) return undefined;
    const chunks = await this.#db.query<{ messages: string }>(
      `SELECT messages FROM ${s}.snapshot_messages WHERE session = $1 ORDER BY first`,
      [row.session],
    );
    // The messages are read after the row: a snapshot written in between has more or different messages and does not
    // match.
    const messages = chunks.flatMap((chunk) => JSON.parse(chunk.messages) as Message[]);
    return this.#plan.stateOf(row, messages);
  }

  /** Writes a snapshot if one is due. Failures are ignored, because without it a session only opens more slowly. */
  async offer(sessionId: string, state: State, epoch: number): Promise<void> {
    const { messages } = state;
    const texts = this.#plan.due(state);
    if (texts === undefined) return;
    try {
      if (!(await this.#write(sessionId, epoch, texts))) this.#plan.failed(messages);
    } catch {
      this.#plan.failed(messages);
    }
  }

  /** Writes a snapshot, unless the writer was replaced. @returns whether it was stored */
  #write(sessionId: string, epoch: number, texts: SnapshotTexts): Promise<boolean> {
    const s = this.#schema;
    const { seq, state, messages, from, chunks } = texts;
    return this.#db.transaction(async (connection) => {
      const [row] = await connection.query<{ key: number; kept: number | null }>(
        `SELECT t.key, (SELECT messages FROM ${s}.snapshots p WHERE p.session = t.key) AS kept
         FROM ${s}.sessions t WHERE t.id = $1 AND t.epoch = $2 AND t.last >= $3 FOR UPDATE`,
        [sessionId, epoch, seq],
      );
      if (row === undefined || (from > 0 && row.kept !== from)) return false;
      if (from === 0)
        await connection.query(`DELETE FROM ${s}.snapshot_messages WHERE session = $1`, [row.key]);
      for (const [first, text] of chunks)
        await connection.query(`INSERT INTO ${s}.snapshot_messages VALUES ($1, $2, $3)`, [
          row.key,
          first,
          text,
        ]);
      await connection.query(
        `INSERT INTO ${s}.snapshots VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session)
         DO UPDATE SET fold = EXCLUDED.fold, seq = EXCLUDED.seq, messages = EXCLUDED.messages, state = EXCLUDED.state`,
        [row.key, foldVersion, seq, messages, state],
      );
      return true;
    });
  }
}
