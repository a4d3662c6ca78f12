import { read, record } from '@cobbler/agent/input';
import type { Embedder, EmbedOptions } from '../memory/embedder.ts';
import { readEmbedder } from '../memory/embedder.ts';
import type { Memory, MemoryIndex, Recalled } from '../memory/memory-index.ts';
import { withReadMemories } from '../memory/memory-index.ts';
import {
  addition,
  listUnembedded,
  memoriesByKey,
  memoriesOf,
  recordEmbedder,
  toMemory,
} from '../memory/memory-table.ts';
import { defaultLimit, meaningScore, scoreFloor, wordScore } from '../memory/score.ts';
import { bytesOf, cosine, embedTexts, vectorIn } from '../memory/vector.ts';
import { contentWords } from '../memory/words.ts';
import type { Sql, SqlStatement } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';
import { numberIn, textIn } from '../storage/sql-row.ts';

/** Options of {@link sqliteMemory}: where memories are stored, and the embedder. */
export interface SqliteMemoryOptions {
  /** A database with FTS5, such as one that `sqliteSql` opens. */
  readonly sql: Sql;
  readonly embedder: Embedder;
}

/** Number of texts embedded in one request. */
const batchSize = 64;

/** Maximum number of memories that one search embeds again after a change of the embedder. */
const maxAgain = 256;

/** Maximum number of memories with words of a query that are scored. */
const maxByWords = 50;

/** Maximum number of different words of a query that are searched for. */
const maxQueryWords = 500;

/** Index tables, rebuilt from the memories if they are missing. */
const tables: readonly string[] = [
  'CREATE VIRTUAL TABLE IF NOT EXISTS memory_words USING fts5(words)',
  // Deleted text must not remain in the file.
  "INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1)",
  'CREATE TABLE IF NOT EXISTS memory_vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT',
  'UPDATE memories SET embedder = NULL WHERE embedder IS NOT NULL AND key NOT IN (SELECT key FROM memory_vectors)',
];

const readOptions = record<SqliteMemoryOptions>({ sql: readSql, embedder: readEmbedder }, [
  'sql',
  'embedder',
]);

/**
 * Stores memories in a local file. Searches compare the query with the vectors of the chat one by one, and with
 * words. After a change of the embedder, memories are embedded again step by step; until then only words find them.
 * @throws AgentError `invalid` for an invalid option.
 */
export function sqliteMemory(options: SqliteMemoryOptions): MemoryIndex {
  const { sql, embedder } = read(options, readOptions);
  let isReady: Promise<void> | undefined;
  const ready = (): Promise<void> => {
    isReady ??= prepare(sql).catch((error: unknown) => {
      isReady = undefined;
      throw error;
    });
    return isReady;
  };
  return withReadMemories({
    async add(memories, options = {}) {
      await ready();
      await sql.batch(memories.flatMap((memory) => [addition(memory), wordsOf(memory)]));
      for (const chatId of new Set(memories.map((memory) => memory.chatId)))
        await embedMissing({ sql, embedder }, chatId, Number.POSITIVE_INFINITY, options);
    },
    async search(chatId, query, { limit = defaultLimit, floor = scoreFloor, ...options } = {}) {
      await ready();
      await embedMissing({ sql, embedder }, chatId, maxAgain, options);
      const scores = await byWords(sql, chatId, query);
      for (const [key, score] of await byMeaning({ sql, embedder }, chatId, query, options))
        scores.set(key, Math.max(score, scores.get(key) ?? 0));
      return bestMemories(sql, chatId, scores, { limit, floor });
    },
    list: async (chatId) => (await memoriesOf(sql, chatId)).map(toMemory),
    async forget(chatId) {
      await ready();
      const keys = 'SELECT key FROM memories WHERE chat_id = ?1';
      const params = [chatId];
      const answers = await sql.batch([
        { text: `DELETE FROM memory_words WHERE rowid IN (${keys})`, params },
        { text: `DELETE FROM memory_vectors WHERE key IN (${keys})`, params },
        { text: 'DELETE FROM memories WHERE chat_id = ?1', params },
      ]);
      return answers[2]?.changes ?? 0;
    },
  });
}

async function prepare(sql: Sql): Promise<void> {
  await sql.batch(tables.map((text) => ({ text })));
  const { rows } = await sql.run(
    'SELECT key, text FROM memories WHERE key NOT IN (SELECT rowid FROM memory_words)',
  );
  await sql.batch(
    rows.map((row) => ({
      text: `INSERT INTO memory_words (rowid, words) SELECT key, ?2 FROM memories
        WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM memory_words WHERE rowid = memories.key)`,
      params: [numberIn(row, 'key'), stemsOf(textIn(row, 'text')).join(' ')],
    })),
  );
}

/** Returns the stems of a text, which SQLite indexes as words. */
function stemsOf(text: string): string[] {
  return contentWords(text).map(({ stem }) => stem);
}

function wordsOf({ id, chatId, text }: Memory): SqlStatement {
  return {
    text: `INSERT INTO memory_words (rowid, words) SELECT key, ?3 FROM memories
      WHERE chat_id = ?1 AND id = ?2
        AND NOT EXISTS (SELECT 1 FROM memory_words WHERE rowid = memories.key)`,
    params: [chatId, id, stemsOf(text).join(' ')],
  };
}

/** Embeds missing memories. Each batch is stored immediately, so that a later failure does not lose it. */
async function embedMissing(
  { sql, embedder }: SqliteMemoryOptions,
  chatId: string,
  limit: number,
  options: EmbedOptions,
): Promise<void> {
  for (let done = 0; done < limit; done += batchSize) {
    const missing = await listUnembedded(sql, chatId, embedder.name, batchSize);
    if (missing.length === 0) return;
    const texts = missing.map(({ text }) => text);
    const vectors = await embedTexts(embedder, texts, 'document', options);
    await sql.batch(
      missing.flatMap(({ key }, index) => [
        {
          text: 'INSERT OR REPLACE INTO memory_vectors (key, vector) SELECT key, ?2 FROM memories WHERE key = ?1',
          params: [key, bytesOf(vectors[index] ?? new Float32Array())],
        },
        recordEmbedder(embedder.name, key),
      ]),
    );
  }
}

async function byWords(sql: Sql, chatId: string, query: string): Promise<Map<number, number>> {
  const question = contentWords(query);
  if (question.length === 0) return new Map();
  const stems = [...new Set(question.map(({ stem }) => stem))].slice(0, maxQueryWords);
  const { rows } = await sql.run(
    // Words first, then chats: in the opposite order, SQLite would search the words once for each memory.
    `SELECT w.rowid AS key, w.words FROM memory_words AS w CROSS JOIN memories AS m ON m.key = w.rowid
     WHERE w.memory_words MATCH ?1 AND m.chat_id = ?2 ORDER BY w.rank LIMIT ${maxByWords}`,
    [stems.map((stem) => `"${stem}"`).join(' OR '), chatId],
  );
  return new Map(
    rows.map((row) => [numberIn(row, 'key'), wordScore(question, new Set(textIn(row, 'words').split(' ')))]),
  );
}

async function byMeaning(
  { sql, embedder }: SqliteMemoryOptions,
  chatId: string,
  query: string,
  options: EmbedOptions,
): Promise<Map<number, number>> {
  const { rows } = await sql.run(
    `SELECT v.key, v.vector FROM memories AS m JOIN memory_vectors AS v ON v.key = m.key
     WHERE m.chat_id = ?1 AND m.embedder = ?2`,
    [chatId, embedder.name],
  );
  if (rows.length === 0) return new Map();
  const [queryVector = new Float32Array()] = await embedTexts(embedder, [query], 'query', options);
  const scores = new Map<number, number>();
  for (const row of rows) {
    const { vector } = row;
    // A vector of another size comes from an embedder that changed without changing its name.
    if (!(vector instanceof Uint8Array) || vector.byteLength !== queryVector.byteLength) continue;
    scores.set(numberIn(row, 'key'), meaningScore(cosine(queryVector, vectorIn(vector)), embedder.floor));
  }
  return scores;
}

async function bestMemories(
  sql: Sql,
  chatId: string,
  scores: ReadonlyMap<number, number>,
  { limit, floor }: { readonly limit: number; readonly floor: number },
): Promise<Recalled[]> {
  const found = [...scores]
    .filter(([, score]) => score >= floor)
    .sort(([key, score], [otherKey, other]) => other - score || otherKey - key)
    .slice(0, Math.max(Math.floor(limit), 0));
  if (found.length === 0) return [];
  const memories = await memoriesByKey(
    sql,
    chatId,
    found.map(([key]) => key),
  );
  return found.flatMap(([key, score]) => {
    const memory = memories.get(key);
    return memory === undefined ? [] : [{ ...toMemory(memory), score }];
  });
}
