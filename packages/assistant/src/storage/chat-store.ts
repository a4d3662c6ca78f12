import { defined } from '@cobbler/agent/values';
import type { Sql } from './sql.ts';
import { numberIn, numberOrNone, textOrNone } from './sql-row.ts';

/** Data of a chat besides its messages. */
export interface Chat {
  readonly chatId: string;
  /** A name of the IANA database, as the person set it. */
  readonly timeZone?: string;
  /** The active turn. */
  readonly runId?: string;
}

/** Limit on the turns of one user. */
export interface RateLimit {
  readonly count: number;
  /** Length of the sliding window, in milliseconds. */
  readonly perMs: number;
}

/** Permission of a chat to start a turn now. A refusal is a result, not an error. */
export type TurnPermission =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Milliseconds until the next turn may begin, counted from the `now` that was given. */
      readonly waitMs: number;
      /** True if this is the first refusal since a turn was allowed: only that one gets a reply. */
      readonly first: boolean;
    };

/** Stored data about chats and users. */
export interface ChatStore {
  /** A chat that nothing was ever set for has its id alone. */
  get(chatId: string): Promise<Chat>;
  /** Null: removes it. */
  setTimeZone(chatId: string, timeZone: string | null): Promise<void>;
  /**
   * Sets or clears the active turn. With `was`, only while that turn is active, so that an old turn that ends late
   * does not affect a newer one. False: another turn was active.
   */
  setRun(chatId: string, runId: string | null, was?: string): Promise<boolean>;
  /** The active turn, if there is one. */
  running(chatId: string): Promise<string | undefined>;
  /** Lets a turn begin and counts it, or refuses it. However many ask at once, no more than `count` are let. */
  takeTurn(userId: string, now: number, limit: RateLimit): Promise<TurnPermission>;
  /** Deletes what was set for a chat. What counts a person's turns stays, or forgetting would be a way round it. */
  forget(chatId: string): Promise<void>;
}

const setRun = `
  INSERT INTO chats (chat_id, run_id)
  SELECT ?1, ?2 WHERE ?3 IS NULL OR EXISTS (SELECT 1 FROM chats WHERE chat_id = ?1 AND run_id = ?3)
  ON CONFLICT (chat_id) DO UPDATE SET run_id = excluded.run_id`;

/** The chats in a database. */
export function sqlChats(sql: Sql): ChatStore {
  const get = async (chatId: string): Promise<Chat> => {
    const { rows } = await sql.run('SELECT time_zone, run_id FROM chats WHERE chat_id = ?1', [chatId]);
    const timeZone = textOrNone(rows[0], 'time_zone');
    const runId = textOrNone(rows[0], 'run_id');
    return { chatId, ...defined({ timeZone, runId }) };
  };
  return {
    get,
    async setTimeZone(chatId, timeZone) {
      await sql.run(
        `INSERT INTO chats (chat_id, time_zone) VALUES (?1, ?2)
         ON CONFLICT (chat_id) DO UPDATE SET time_zone = excluded.time_zone`,
        [chatId, timeZone],
      );
    },
    async setRun(chatId, runId, was) {
      const { changes } = await sql.run(setRun, [chatId, runId, was ?? null]);
      return changes > 0;
    },
    running: async (chatId) => (await get(chatId)).runId,
    takeTurn: (userId, now, limit) => takeTurn(sql, userId, now, limit),
    async forget(chatId) {
      await sql.run('DELETE FROM chats WHERE chat_id = ?1', [chatId]);
    },
  };
}

/** Turns that no longer count; a clock that was put back must not lock anybody out. */
const dropOld = 'DELETE FROM arrivals WHERE user_id = ?1 AND (at <= ?2 - ?3 OR at > ?2 + ?3)';

const decide = `
  INSERT INTO turn_limits (user_id, refused)
  VALUES (?1, (SELECT count(*) FROM arrivals WHERE user_id = ?1) >= ?2)
  ON CONFLICT (user_id) DO UPDATE SET
    refused = CASE excluded.refused WHEN 0 THEN 0 ELSE turn_limits.refused + 1 END
  RETURNING refused`;

const countIn = `
  INSERT INTO arrivals (user_id, at)
  SELECT user_id, ?2 FROM turn_limits WHERE user_id = ?1 AND refused = 0`;

/** The turn whose end makes room for another: with a limit that was lowered, not the oldest. */
const makesRoom = `
  SELECT at FROM arrivals WHERE user_id = ?1 ORDER BY at
  LIMIT 1 OFFSET max(0, (SELECT count(*) FROM arrivals WHERE user_id = ?1) - ?2)`;

async function takeTurn(
  sql: Sql,
  userId: string,
  now: number,
  { count, perMs }: RateLimit,
): Promise<TurnPermission> {
  const [, decided, , room] = await sql.batch([
    { text: dropOld, params: [userId, now, perMs] },
    { text: decide, params: [userId, count] },
    { text: countIn, params: [userId, now] },
    { text: makesRoom, params: [userId, count] },
  ]);
  const refused = numberIn(decided?.rows[0], 'refused');
  if (refused === 0) return { ok: true };
  const at = numberOrNone(room?.rows[0], 'at') ?? now;
  return { ok: false, waitMs: Math.min(Math.max(at + perMs - now, 0), perMs), first: refused === 1 };
}
