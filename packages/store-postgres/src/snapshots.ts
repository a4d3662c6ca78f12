import type { Message } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import { foldVersion, snapshotState, snapshotText } from '@cobbler/agent/store';
import type { Database } from './database.ts';

/** Number of events after which a new snapshot is stored. Opening a session folds the events after the snapshot. */
const interval = 256;

/** Number of messages per row. */
const chunkLength = 250;

/** The stored form of a list of messages. */
interface StoredMessageList {
  /** Position of the last event folded. */
  readonly seq: number;
  readonly messages: number;
  readonly last: Message | undefined;
}

/** A serialized snapshot. */
interface PostgresSnapshotTexts {
  readonly seq: number;
  readonly state: string;
  readonly messages: number;
  /** Index of the first message in `chunks`; earlier messages are already stored. */
  readonly from: number;
  /** JSON arrays of messages, with the index of the first in each. */
  readonly chunks: readonly (readonly [first: number, text: string])[];
}

interface PostgresSnapshotRow {
  readonly session: number;
  readonly seq: number;
  readonly messages: number;
  readonly state: string;
}

/**
 * Stores the states of sessions, so that opening one does not fold its log from the beginning. Messages never change
 * and are only added, so only new ones are written. After a compaction the list is different and is written in full.
 */
export class PostgresSnapshots {
  readonly #db: Database;
  readonly #schema: string;
  readonly #kept = new WeakMap<readonly Message[], StoredMessageList>();

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
    if (messages.length !== row.messages) return undefined;
    const state = snapshotState(row.state, messages);
    if (state?.seq !== row.seq) return undefined;
    this.#kept.set(messages, { seq: row.seq, messages: messages.length, last: messages.at(-1) });
    return state;
  }

  /** Writes a snapshot if one is due. Failures are ignored, because without it a session only opens more slowly. */
  async offer(sessionId: string, state: State, epoch: number): Promise<void> {
    const { messages } = state;
    const texts = this.#due(state);
    if (texts === undefined) return;
    try {
      if (!(await this.#write(sessionId, epoch, texts))) this.#kept.delete(messages);
    } catch {
      this.#kept.delete(messages);
    }
  }

  #due(state: State): PostgresSnapshotTexts | undefined {
    const { messages, seq } = state;
    const kept = this.#kept.get(messages);
    if (seq - (kept?.seq ?? 0) < interval) return undefined;
    const from = kept !== undefined && messages[kept.messages - 1] === kept.last ? kept.messages : 0;
    const chunks: [number, string][] = [];
    for (let at = from; at < messages.length; at += chunkLength)
      chunks.push([at, JSON.stringify(messages.slice(at, at + chunkLength))]);
    this.#kept.set(messages, { seq, messages: messages.length, last: messages.at(-1) });
    return { seq, state: snapshotText(state), messages: messages.length, from, chunks };
  }

  /** Writes a snapshot, unless the writer was replaced. @returns whether it was stored */
  #write(sessionId: string, epoch: number, texts: PostgresSnapshotTexts): Promise<boolean> {
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
