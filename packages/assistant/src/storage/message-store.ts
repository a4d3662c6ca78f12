import { optional, read, text, when, withArguments } from '@cobbler/agent/input';
import type { ChatMessage, MessageStore } from './chat-message.ts';
import { readMessage } from './chat-message.ts';
import type { Sql, SqlRow } from './sql.ts';
import { readSql } from './sql.ts';
import { textIn } from './sql-row.ts';

/** Number of messages that `all` reads in one query. */
const pageSize = 100;

const columns = 'rowid AS place, id, chat_id, role, content, created_at';

/** Returns SQL for the position of a message; several messages can have the same time. */
const placeOf = (id: string): string => `(SELECT rowid FROM messages WHERE id = ${id} AND chat_id = ?1)`;

const markOf = (name: string): string => `(SELECT ${name} FROM message_marks WHERE chat_id = ?1)`;

const recentMessages = `
  SELECT ${columns} FROM messages
  WHERE chat_id = ?1
    AND rowid > coalesce(${placeOf(markOf('fresh_after'))}, 0)
    AND (?3 IS NULL OR rowid <= ${placeOf('?3')})
  ORDER BY rowid DESC LIMIT ?2`;

const unsummarisedMessages = `
  SELECT ${columns} FROM messages
  WHERE chat_id = ?1
    AND rowid > coalesce(${placeOf(markOf('summarised_to'))}, 0)
    AND rowid NOT IN (SELECT rowid FROM messages WHERE chat_id = ?1 ORDER BY rowid DESC LIMIT ?2)
  ORDER BY rowid LIMIT ?3`;

/** Moves the mark forward. A mark never goes back: a late call with an older message changes nothing. */
const markSummarised = `
  INSERT INTO message_marks (chat_id, summarised_to)
  SELECT chat_id, id FROM messages WHERE id = ?2 AND chat_id = ?1
  ON CONFLICT (chat_id) DO UPDATE SET summarised_to = excluded.summarised_to
  WHERE coalesce((SELECT rowid FROM messages WHERE id = message_marks.summarised_to), 0)
    < (SELECT rowid FROM messages WHERE id = excluded.summarised_to)`;

const markFresh = `
  INSERT INTO message_marks (chat_id, fresh_after)
  SELECT chat_id, id FROM messages WHERE chat_id = ?1 ORDER BY rowid DESC LIMIT 1
  ON CONFLICT (chat_id) DO UPDATE SET fresh_after = excluded.fresh_after`;

const number = when<number>((value) => typeof value === 'number', 'a number');

/**
 * Creates a store of messages in a database.
 * @throws AgentError `invalid` for a value that is not a database.
 */
export function sqlMessages(sql: Sql): MessageStore {
  return withArguments(messagesIn(read(sql, readSql, 'sql')), {
    add: { message: readMessage },
    recent: { chatId: text, count: number, upTo: optional(text) },
    unsummarised: { chatId: text, keep: number, limit: number },
    summarised: { chatId: text, upTo: text },
    startFresh: { chatId: text },
    forget: { chatId: text },
  });
}

function messagesIn(sql: Sql): MessageStore {
  return {
    async add({ id, chatId, role, content, createdAt }) {
      const { changes } = await sql.run(
        `INSERT INTO messages (id, chat_id, role, content, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING`,
        [id, chatId, role, content, createdAt],
      );
      return changes === 1;
    },
    async recent(chatId, count, upTo) {
      const { rows } = await sql.run(recentMessages, [chatId, whole(count), upTo ?? null]);
      return rows.map(messageIn).reverse();
    },
    async unsummarised(chatId, keep, limit) {
      const { rows } = await sql.run(unsummarisedMessages, [chatId, whole(keep), whole(limit)]);
      return rows.map(messageIn);
    },
    async summarised(chatId, upTo) {
      await sql.run(markSummarised, [chatId, upTo]);
    },
    async startFresh(chatId) {
      await sql.run(markFresh, [chatId]);
    },
    all: (chatId) => allOf(sql, read(chatId, text, 'chatId')),
    async forget(chatId) {
      const [deleted] = await sql.batch([
        { text: 'DELETE FROM messages WHERE chat_id = ?1', params: [chatId] },
        { text: 'DELETE FROM message_marks WHERE chat_id = ?1', params: [chatId] },
      ]);
      return deleted?.changes ?? 0;
    },
  };
}

async function* allOf(sql: Sql, chatId: string): AsyncGenerator<ChatMessage> {
  for (let place: SqlRow[string] = 0; ; ) {
    const { rows } = await sql.run(
      `SELECT ${columns} FROM messages WHERE chat_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ${pageSize}`,
      [chatId, place],
    );
    yield* rows.map(messageIn);
    place = rows.at(-1)?.['place'] ?? 0;
    if (rows.length < pageSize) return;
  }
}

function messageIn(row: SqlRow): ChatMessage {
  return {
    id: textIn(row, 'id'),
    chatId: textIn(row, 'chat_id'),
    role: textIn(row, 'role') === 'user' ? 'user' : 'assistant',
    content: textIn(row, 'content'),
    createdAt: textIn(row, 'created_at'),
  };
}

/** Returns a valid LIMIT; a negative one would mean no limit. */
function whole(count: number): number {
  return Math.min(Math.max(Math.floor(count) || 0, 0), 1_000_000);
}
