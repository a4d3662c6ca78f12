import { foldVersion, snapshotState, snapshotText } from '../../events/snapshot.ts';
import type { State } from '../../events/state.ts';
import type { Message } from '../../values/message.ts';
import { checksum, isIntact } from './checksum.ts';
import type { Statements } from './statements.ts';

/** Number of events after which a new snapshot is stored. Opening a session folds the later events. */
const interval = 256;

/** Number of messages per row. */
const chunkLength = 250;

/** The stored part of a list of messages. */
interface StoredMessages {
  /** Sequence number of the last folded event. */
  readonly seq: number;
  /** Number of stored messages. */
  readonly messages: number;
  readonly last: Message | undefined;
}

/** A serialized snapshot, to be written in a transaction. */
export interface SnapshotTexts {
  readonly seq: number;
  readonly state: string;
  readonly messages: number;
  /** Index of the first message in `chunks`; earlier messages are already stored. */
  readonly from: number;
  /** JSON arrays of messages, by the index of their first message. */
  readonly chunks: ReadonlyMap<number, string>;
}

/**
 * Snapshots of session states, so that opening a session does not fold all its events. Messages never change and are
 * only added, so only new ones are written; a compaction creates a new list, which is written in full.
 */
export class Snapshots {
  readonly #sql: Statements;
  /** The stored part of each list of messages that a run uses. */
  readonly #kept = new WeakMap<readonly Message[], StoredMessages>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Returns the snapshot of a session if it is intact and has this version of the fold. */
  read(sessionId: string): State | undefined {
    const row = this.#sql.row<SnapshotRow>(selectSnapshot, sessionId, foldVersion);
    if (row === undefined) return undefined;
    if (!isIntact(row.sum, statePlace(sessionId, row.seq), row.state)) return undefined;
    const messages = this.#messages(sessionId, row.session);
    if (messages?.length !== row.messages) return undefined;
    const state = snapshotState(row.state, messages);
    if (state?.seq !== row.seq) return undefined;
    this.#kept.set(messages, { seq: row.seq, messages: messages.length, last: messages.at(-1) });
    return state;
  }

  /** Returns the snapshot to write, or undefined if none is due. */
  due(state: State): SnapshotTexts | undefined {
    const { messages, seq } = state;
    const kept = this.#kept.get(messages);
    if (seq - (kept?.seq ?? 0) < interval) return undefined;
    const from = kept !== undefined && messages[kept.messages - 1] === kept.last ? kept.messages : 0;
    const chunks = new Map<number, string>();
    for (let at = from; at < messages.length; at += chunkLength)
      chunks.set(at, JSON.stringify(messages.slice(at, at + chunkLength)));
    this.#kept.set(messages, { seq, messages: messages.length, last: messages.at(-1) });
    return { seq, state: snapshotText(state), messages: messages.length, from, chunks };
  }

  /** Records that a snapshot was not written; the next one contains all messages. */
  failed(messages: readonly Message[]): void {
    this.#kept.delete(messages);
  }

  /**
   * Writes a snapshot. Must be called in a transaction. Returns false if it was not stored, for example because the
   * writer has been replaced.
   */
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
