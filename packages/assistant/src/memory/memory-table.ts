import type { Sql, SqlRow, SqlStatement } from '../storage/sql.ts';
import { numberIn, textIn } from '../storage/sql-row.ts';
import type { Memory } from './memory-index.ts';

/** A memory as a row of the table. */
export interface KeptMemory extends Memory {
  readonly key: number;
}

const columns = 'key, id, chat_id, text, created_at';

/** Inserts a memory if it does not exist. */
export function addition({ id, chatId, text, createdAt }: Memory): SqlStatement {
  return {
    text: `INSERT INTO memories (id, chat_id, text, created_at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (chat_id, id) DO NOTHING`,
    params: [id, chatId, text, createdAt],
  };
}

/** Marks a memory as stored in the vector index. */
export function recordEmbedder(name: string, key: number): SqlStatement {
  return { text: 'UPDATE memories SET embedder = ?1 WHERE key = ?2', params: [name, key] };
}

/** Returns a chat's memories, oldest first. */
export async function memoriesOf(sql: Sql, chatId: string): Promise<KeptMemory[]> {
  const { rows } = await sql.run(`SELECT ${columns} FROM memories WHERE chat_id = ?1 ORDER BY key`, [chatId]);
  return rows.map(memoryIn);
}

/** Returns the memories of a chat with these keys. */
export async function memoriesByKey(
  sql: Sql,
  chatId: string,
  keys: readonly number[],
): Promise<Map<number, KeptMemory>> {
  const { rows } = await sql.run(
    `SELECT ${columns} FROM memories WHERE chat_id = ?1 AND key IN (SELECT value FROM json_each(?2))`,
    [chatId, JSON.stringify(keys)],
  );
  return new Map(rows.map((row) => [numberIn(row, 'key'), memoryIn(row)]));
}

/** Returns the memories of a chat that are not in this embedder's vector index, oldest first. */
export async function listUnembedded(
  sql: Sql,
  chatId: string,
  name: string,
  limit: number,
): Promise<KeptMemory[]> {
  const { rows } = await sql.run(
    `SELECT ${columns} FROM memories WHERE chat_id = ?1 AND embedder IS NOT ?2 ORDER BY key LIMIT ?3`,
    [chatId, name, limit],
  );
  return rows.map(memoryIn);
}

/** Returns a memory without the internal columns. */
export function toMemory({ id, chatId, text, createdAt }: Memory): Memory {
  return { id, chatId, text, createdAt };
}

export function memoryIn(row: SqlRow): KeptMemory {
  return {
    key: numberIn(row, 'key'),
    id: textIn(row, 'id'),
    chatId: textIn(row, 'chat_id'),
    text: textIn(row, 'text'),
    createdAt: textIn(row, 'created_at'),
  };
}
