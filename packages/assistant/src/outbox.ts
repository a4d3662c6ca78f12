import type { ErrorData, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Piece } from './channel.ts';
import type { Sql, SqlRow } from './sql.ts';
import { numberIn, numberOrNone, textIn, textOrNone } from './sql-row.ts';

/**
 * `planned`: to be sent, or sent again. `sending`: somebody is about to, or was when he died. `maybe_sent`: that
 * somebody is not here to say, or could not tell; never sent again. `given_up`: never sent, and will not be.
 */
export type OutboxState = 'planned' | 'sending' | 'sent' | 'maybe_sent' | 'given_up';

/** A piece of a reply on its way out. */
export interface OutboxEntry {
  readonly key: string;
  readonly chatId: string;
  readonly piece: Piece;
  readonly state: OutboxState;
  /** How often sending was begun. */
  readonly attempts: number;
  /** When the channel said that it may be tried again, in milliseconds since 1970. */
  readonly nextTryAt?: number;
  /** The channel's id of the message that was sent. */
  readonly messageId?: string;
  /** Why the last try failed, or why it was given up. */
  readonly error?: ErrorData;
}

/** What became of a piece. */
export type Delivery =
  | { readonly state: 'sent'; readonly messageId: string }
  | { readonly state: 'maybe_sent' }
  | { readonly state: 'given_up'; readonly error?: ErrorData };

/** Sees to it that each piece is sent once, or that it is known that this cannot be known. */
export interface Outbox {
  /**
   * Sends a piece unless it was sent before. The key names the piece for ever: the piece that came with it first is
   * the one that is sent. Before `send` is called it is written down that it will be. Found like that by another
   * life, the piece counts as maybe sent; if who was sending is alive after all, what he reports still counts.
   * Calls with one key in one process are one call.
   * @throws AgentError what `send` rejected with when it is certain that nothing was sent, which is every AgentError
   * save one with code `maybe_sent`: the piece is planned again, and the caller may try again.
   */
  deliver(
    key: string,
    chatId: string,
    piece: Piece,
    send: (piece: Piece) => Promise<string>,
  ): Promise<Delivery>;
  /** Ends a piece that is planned, so that it is never sent. False: it is not planned. */
  giveUp(key: string, error: ErrorData): Promise<boolean>;
  /** Pieces, oldest first. Most: 100 unless told. */
  list(filter?: {
    readonly state?: OutboxState;
    readonly chatId?: string;
    readonly limit?: number;
  }): Promise<readonly OutboxEntry[]>;
  /** Deletes a chat's pieces and says how many there were. */
  forget(chatId: string): Promise<number>;
  /** Deletes what came to its end before a time in milliseconds since 1970, and says how many. */
  prune(before: number): Promise<number>;
}

/** Where the outbox takes its time from. */
export interface OutboxOptions {
  /** Default: the real one. */
  readonly runtime?: Runtime;
}

const columns = 'key, chat_id, piece, state, attempts, next_try_at, message_id, error';

const plan = `
  INSERT INTO outbox (key, chat_id, piece, state, attempts, created_at, updated_at)
  VALUES (?1, ?2, ?3, 'planned', 0, ?4, ?4) ON CONFLICT (key) DO NOTHING`;

/** Only one of those who try at once finds it planned. */
const take = `
  UPDATE outbox SET state = 'sending', owner = ?2, attempts = attempts + 1, next_try_at = NULL, updated_at = ?3
  WHERE key = ?1 AND state = 'planned' RETURNING ${columns}`;

/** Found in somebody else's hands. */
const doubt = `
  UPDATE outbox SET state = 'maybe_sent', updated_at = ?3
  WHERE key = ?1 AND owner <> ?2 AND state = 'sending'`;

/** Who was sending knows better than those who doubted. */
const settle = `
  UPDATE outbox SET state = ?3, message_id = ?4, error = ?5, next_try_at = ?6, updated_at = ?7
  WHERE key = ?1 AND owner = ?2 AND state IN ('sending', 'maybe_sent')`;

const remove = 'DELETE FROM outbox WHERE';

/** The outbox in a database. Several may be at work on the same one. */
export function sqlOutbox(sql: Sql, { runtime = systemRuntime }: OutboxOptions = {}): Outbox {
  const underWay = new Map<string, Promise<Delivery>>();
  return {
    deliver(key, chatId, piece, send) {
      const found = underWay.get(key);
      if (found !== undefined) return found;
      const delivery = deliverOnce({ sql, runtime }, { key, chatId, piece }, send).finally(() =>
        underWay.delete(key),
      );
      underWay.set(key, delivery);
      return delivery;
    },
    async giveUp(key, error) {
      const { changes } = await sql.run(
        `UPDATE outbox SET state = 'given_up', error = ?2, next_try_at = NULL, updated_at = ?3
         WHERE key = ?1 AND state = 'planned'`,
        [key, JSON.stringify(error), runtime.now()],
      );
      return changes > 0;
    },
    async list({ state, chatId, limit = 100 } = {}) {
      const { rows } = await sql.run(
        `SELECT ${columns} FROM outbox WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR chat_id = ?2)
         ORDER BY rowid LIMIT ?3`,
        [state ?? null, chatId ?? null, limit],
      );
      return rows.map(entryIn);
    },
    forget: async (chatId) => (await sql.run(`${remove} chat_id = ?1`, [chatId])).changes,
    prune: async (before) =>
      (await sql.run(`${remove} updated_at < ?1 AND state IN ('sent', 'maybe_sent', 'given_up')`, [before]))
        .changes,
  };
}

interface Life {
  readonly sql: Sql;
  readonly runtime: Runtime;
}

async function deliverOnce(
  life: Life,
  { key, chatId, piece }: Pick<OutboxEntry, 'key' | 'chatId' | 'piece'>,
  send: (piece: Piece) => Promise<string>,
): Promise<Delivery> {
  const { sql, runtime } = life;
  const now = runtime.now();
  const owner = runtime.id();
  const [, taken, , found] = await sql.batch([
    { text: plan, params: [key, chatId, JSON.stringify(piece), now] },
    { text: take, params: [key, owner, now] },
    { text: doubt, params: [key, owner, now] },
    { text: `SELECT ${columns} FROM outbox WHERE key = ?1`, params: [key] },
  ]);
  const mine = taken?.rows[0];
  return mine === undefined
    ? outcomeOf(entryIn(found?.rows[0] ?? {}))
    : sendIt(life, owner, entryIn(mine), send);
}

async function sendIt(
  { sql, runtime }: Life,
  owner: string,
  { key, piece }: OutboxEntry,
  send: (piece: Piece) => Promise<string>,
): Promise<Delivery> {
  const settled = (state: OutboxState, rest: Partial<OutboxEntry>) =>
    sql.run(settle, [
      ...[key, owner, state],
      rest.messageId ?? null,
      rest.error === undefined ? null : JSON.stringify(rest.error),
      rest.nextTryAt ?? null,
      runtime.now(),
    ]);
  let messageId: string;
  try {
    messageId = await send(piece);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    // A channel says what it knows by an AgentError; of anything else nobody knows how far it got.
    if (!AgentError.is(thrown) || error.code === 'maybe_sent') {
      await settled('maybe_sent', { error: error.toJSON() });
      return { state: 'maybe_sent' };
    }
    const { retryAfterMs } = error;
    await settled('planned', {
      error: error.toJSON(),
      ...(retryAfterMs !== undefined && { nextTryAt: runtime.now() + retryAfterMs }),
    });
    throw error;
  }
  await settled('sent', { messageId });
  return { state: 'sent', messageId };
}

function outcomeOf({ key, state, messageId, error }: OutboxEntry): Delivery {
  if (state === 'sent' && messageId !== undefined) return { state, messageId };
  if (state === 'given_up') return { state, ...(error !== undefined && { error }) };
  if (state === 'maybe_sent') return { state };
  const message = `The piece ${key} is ${state} and cannot be delivered: the outbox was changed by another program.`;
  throw new AgentError({ kind: 'agent', code: 'store_damaged', message });
}

function entryIn(row: SqlRow): OutboxEntry {
  const nextTryAt = numberOrNone(row, 'next_try_at');
  const messageId = textOrNone(row, 'message_id');
  const error = textOrNone(row, 'error');
  return {
    key: textIn(row, 'key'),
    chatId: textIn(row, 'chat_id'),
    piece: JSON.parse(textIn(row, 'piece')) as Piece,
    state: textIn(row, 'state') as OutboxState,
    attempts: numberIn(row, 'attempts'),
    ...(nextTryAt !== undefined && { nextTryAt }),
    ...(messageId !== undefined && { messageId }),
    ...(error !== undefined && { error: JSON.parse(error) as ErrorData }),
  };
}
