import type { State } from '../../events/state.ts';
import { foldVersion } from '../../events/state.ts';
import type { SnapshotTexts } from '../../store/snapshot-plan.ts';
import { SnapshotPlan } from '../../store/snapshot-plan.ts';
import type { Message } from '../../values/message.ts';
import { checksum, isIntact } from './checksum.ts';
import type { Statements } from './statements.ts';

/** The snapshots of session states in the database. */
export class Snapshots {
  readonly #sql: Statements;
  readonly plan: SnapshotPlan = new SnapshotPlan();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Returns the snapshot of a session if it is intact and has this version of the fold. */
  read(sessionId: string): State | undefined {
    const row = this.#sql.row<SnapshotRow>(selectSnapshot, sessionId, foldVersion);
    if (row === undefined) return undefined;
    if (!isIntact(row.sum, statePlace(sessionId, row.seq), row.state)) return undefined;
    const messages = this.#messages(sessionId, row.session);
    return messages && this.plan.stateOf(row, messages);
  }

  /** Writes a snapshot, in a transaction. Returns false if it was not stored, for example because the writer was replaced. */
  write(sessionId: string, epoch: number, { seq, state, messages, from, chunks }: SnapshotTexts): boolean {
    const session = this.#sql.row<{ key: number }>(selectHeld, sessionId, epoch)?.key;
    if (session === undefined) return false;
    if (from > 0 && this.#sql.row<{ messages: number }>(selectMessages, session)?.messages !== from)
      return false;
    if (from === 0) this.#sql.run('DELETE FROM snapshot_messages WHERE session = ?', session);
    for (const [first, text] of chunks)
      this.#sql.run(insertChunk, session, first, text, checksum(chunkPlace(sessionId, first), text));
    this.#sql.run(
      'INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)',
      session,
      foldVersion,
      seq,
      messages,
      state,
      checksum(statePlace(sessionId, seq), state),
    );
    return true;
  }

  #messages(sessionId: string, session: number): Message[] | undefined {
    const rows = this.#sql.rows<ChunkRow>(selectChunks, session);
    if (!rows.every(({ first, messages, sum }) => isIntact(sum, chunkPlace(sessionId, first), messages)))
      return undefined;
    try {
      return rows.flatMap(({ messages }) => JSON.parse(messages) as Message[]);
    } catch {
      return undefined;
    }
  }
}

interface SnapshotRow {
  readonly session: number;
  readonly seq: number;
  readonly messages: number;
  readonly state: string;
  readonly sum: number | null;
}

interface ChunkRow {
  readonly first: number;
  readonly messages: string;
  readonly sum: number | null;
}

function statePlace(sessionId: string, seq: number): string {
  return `${sessionId} state ${seq} `;
}

function chunkPlace(sessionId: string, first: number): string {
  return `${sessionId} messages ${first} `;
}

const selectSnapshot = `
  SELECT snapshots.session AS session, snapshots.seq AS seq, messages, state,
    snapshots.sum AS sum
  FROM sessions JOIN snapshots ON snapshots.session = sessions.key
  WHERE sessions.id = ? AND fold = ?`;
const selectHeld = 'SELECT key FROM sessions WHERE id = ? AND epoch = ?';
const selectMessages = 'SELECT messages FROM snapshots WHERE session = ?';
const insertChunk = 'INSERT INTO snapshot_messages VALUES (?, ?, ?, ?)';
const selectChunks = 'SELECT first, messages, sum FROM snapshot_messages WHERE session = ? ORDER BY first';
