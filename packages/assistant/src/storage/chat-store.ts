import type { Json } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  amount,
  data,
  optional,
  read,
  record,
  text,
  when,
  withArguments,
  withMethods,
} from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { Sql, SqlRow } from './sql.ts';
import { readSql } from './sql.ts';
import { numberIn, numberOrNone, textIn, textOrNone } from './sql-row.ts';

/** Data of a chat besides its messages. */
export interface Chat {
  readonly chatId: string;
  /** An IANA time zone name, as set by the user. */
  readonly timeZone?: string;
  /** Run id of the active turn. */
  readonly runId?: string;
}

/** Maximum number of turns of one user in a time window. */
export interface RateLimit {
  readonly count: number;
  /** Length of the sliding window, in milliseconds. */
  readonly perMs: number;
}

/** The decision whether a user may start a turn now. A refusal is a result, not an error. */
export type TurnPermission =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Milliseconds until the next turn may start, measured from the given `now`. */
      readonly waitMs: number;
      /** True for the first refusal since a turn was allowed. Only this one gets a reply. */
      readonly first: boolean;
    };

/** A value that a run of a chat has noted. */
export interface ChatNote {
  readonly key: string;
  readonly chatId: string;
  readonly value: Json;
  /** Current time, in milliseconds since 1970. */
  readonly now: number;
}

/** Lifetime of a note in milliseconds: longer than any run. */
const noteMs = 30 * 86_400_000;

/** Stored data about chats and users. */
export interface ChatStore {
  /** Returns the data of a chat. Without any data, it contains only the id. */
  get(chatId: string): Promise<Chat>;
  /** Sets the time zone; null removes it. */
  setTimeZone(chatId: string, timeZone: string | null): Promise<void>;
  /**
   * Sets or clears the active turn. With `was`, only while that turn is active, so that an old turn that ends late
   * does not affect a newer one. Returns false if another turn was active.
   */
  setRun(chatId: string, runId: string | null, was?: string): Promise<boolean>;
  /** Returns the active turn, if any. */
  running(chatId: string): Promise<string | undefined>;
  /** Allows and counts a turn, or refuses it. Concurrent calls never allow more than `count` turns. */
  takeTurn(userId: string, now: number, limit: RateLimit): Promise<TurnPermission>;
  /** Returns the value noted under a key; undefined if there is none. */
  noted(key: string): Promise<Json | undefined>;
  /**
   * Notes a value for 30 days, for a run that must find the same value when it continues. Of several values for one
   * key, the first is kept. Returns the kept value.
   */
  note(note: ChatNote): Promise<Json>;
  /** Deletes the data of a chat, but not the count of the user's turns. Otherwise, deletion would bypass the limit. */
  forget(chatId: string): Promise<void>;
}

const setRun = `
  INSERT INTO chats (chat_id, run_id)
  SELECT ?1, ?2 WHERE ?3 IS NULL OR EXISTS (SELECT 1 FROM chats WHERE chat_id = ?1 AND run_id = ?3)
  ON CONFLICT (chat_id) DO UPDATE SET run_id = excluded.run_id`;

/** Reads a time or a number of milliseconds. */
export const readTime: Reader<number> = when(
  (value) => Number.isFinite(value),
  'a time in milliseconds since 1970',
);

/** Reads a limit of turns. */
export const readRateLimit: Reader<RateLimit> = record<RateLimit>({ count: amount, perMs: amount }, [
  'count',
  'perMs',
]);

/** Reads a store of chats. */
export const readChats: Reader<ChatStore> = withMethods(
  ...(['get', 'setTimeZone', 'setRun', 'running', 'takeTurn', 'noted', 'note', 'forget'] as const),
);

const textOrNull = when<string | null>(
  (value) => value === null || typeof value === 'string',
  'a string or null',
);

const readNote = record<ChatNote>({ key: text, chatId: text, value: data, now: readTime }, [
  'key',
  'chatId',
  'value',
  'now',
]);

/**
 * Creates a store of chats in a database.
 * @throws AgentError `invalid` for a value that is not a database.
 */
export function sqlChats(sql: Sql): ChatStore {
  return withArguments(chatsIn(read(sql, readSql, 'sql')), {
    get: { chatId: text },
    setTimeZone: { chatId: text, timeZone: textOrNull },
    setRun: { chatId: text, runId: textOrNull, was: optional(text) },
    running: { chatId: text },
    takeTurn: { userId: text, now: readTime, limit: readRateLimit },
    noted: { key: text },
    note: { note: readNote },
    forget: { chatId: text },
  });
}

function chatsIn(sql: Sql): ChatStore {
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
    async noted(key) {
      const { rows } = await sql.run(findNote, [key]);
      return rows[0] === undefined ? undefined : noteIn(rows[0]);
    },
    async note({ key, chatId, value, now }) {
      const [, , kept] = await sql.batch([
        { text: 'DELETE FROM notes WHERE created_at < ?1', params: [now - noteMs] },
        {
          text: `INSERT INTO notes (key, chat_id, value, created_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO NOTHING`,
          params: [key, chatId, JSON.stringify(value), now],
        },
        { text: findNote, params: [key] },
      ]);
      return noteIn(kept?.rows[0]);
    },
    async forget(chatId) {
      await sql.batch([
        { text: 'DELETE FROM chats WHERE chat_id = ?1', params: [chatId] },
        { text: 'DELETE FROM notes WHERE chat_id = ?1', params: [chatId] },
      ]);
    },
  };
}

const findNote = 'SELECT value FROM notes WHERE key = ?1';

function noteIn(row: SqlRow | undefined): Json {
  return JSON.parse(textIn(row, 'value')) as Json;
}

/** Deletes turns that no longer count, including future ones: a clock that was set back must not lock out users. */
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

/** Selects the turn whose end allows another one. After the limit was lowered, this is not the oldest. */
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
