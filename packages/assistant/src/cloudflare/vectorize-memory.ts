import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { read, record, withMethods } from '@cobbler/agent/input';
import type { Embedder, EmbedOptions } from '../memory/embedder.ts';
import { readEmbedder } from '../memory/embedder.ts';
import type { MemoryIndex, Recalled } from '../memory/memory-index.ts';
import { withReadMemories } from '../memory/memory-index.ts';
import type { KeptMemory } from '../memory/memory-table.ts';
import { addition, listUnembedded, memoriesOf, recordEmbedder, toMemory } from '../memory/memory-table.ts';
import { defaultLimit, meaningScore, scoreFloor } from '../memory/score.ts';
import { bytesOf, cosine, embedTexts, vectorIn } from '../memory/vector.ts';
import type { Sql } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';
import { numberIn, textIn } from '../storage/sql-row.ts';
import type { Vectorize } from './vectorize.ts';

/** Options of {@link vectorizeMemory}: where texts and vectors are stored, and the embedder. */
export interface VectorizeMemoryOptions {
  /**
   * An index with the embedder's number of dimensions and the metric `cosine`. Namespaces separate the chats, so no
   * metadata index is needed.
   */
  readonly index: Vectorize;
  /** Database of the texts. */
  readonly sql: Sql;
  readonly embedder: Embedder;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
}

type VectorizeSettings = Required<VectorizeMemoryOptions>;

/** Number of texts embedded and vectors written in one request. Workers AI accepts 100. */
const batchSize = 50;

/** Maximum number of memories that one search embeds again after a change of the embedder. */
const maxAgain = 100;

/** Maximum number of ids per query and per deletion of the index. */
const idsAtOnce = { get: 20, delete: 100 } as const;

/** Time after which a vector that the index still does not return is written again, in milliseconds. */
const retryAfterMs = 15 * 60_000;

const readOptions = record<VectorizeMemoryOptions>(
  {
    index: withMethods('upsert', 'query', 'getByIds', 'deleteByIds'),
    sql: readSql,
    embedder: readEmbedder,
    runtime: withMethods('now', 'digest'),
  },
  ['index', 'sql', 'embedder'],
);

/**
 * Stores memories on Cloudflare: their texts in D1, their vectors in Vectorize. Vectorize returns new vectors only
 * after seconds to minutes; until then they are also stored in D1, so that a memory can be found immediately. Results
 * always belong to the chat, whatever Vectorize returns, because their texts are read from D1 by chat.
 */
export function vectorizeMemory(options: VectorizeMemoryOptions): MemoryIndex {
  const given = read(options, readOptions);
  const parts: VectorizeSettings = {
    runtime: systemRuntime,
    ...given,
    index: withVectorizeErrors(given.index),
  };
  const { index, sql } = parts;
  return withReadMemories({
    async add(memories, options = {}) {
      if (memories.length === 0) return;
      await sql.batch(memories.map(addition));
      for (const chatId of new Set(memories.map((memory) => memory.chatId))) {
        await embedMissing(parts, chatId, Number.POSITIVE_INFINITY, options);
        await settle(parts, chatId);
      }
    },
    async search(chatId, query, { limit = defaultLimit, floor = scoreFloor, ...options } = {}) {
      await embedMissing(parts, chatId, maxAgain, options);
      const memories = await memoriesOf(sql, chatId);
      if (memories.length === 0) return [];
      const [queryVector = new Float32Array()] = await embedTexts(parts.embedder, [query], 'query', options);
      const scores = await scoresOf(parts, chatId, queryVector, limit);
      return bestMemories(await byVectorId(parts, memories), scores, { limit, floor });
    },
    list: async (chatId) => (await memoriesOf(sql, chatId)).map(toMemory),
    async forget(chatId) {
      const memories = await memoriesOf(sql, chatId);
      const ids = [...(await byVectorId(parts, memories)).keys()];
      // The vectors are deleted first, because their ids are derived from the texts' rows.
      for (const some of portions(ids, idsAtOnce.delete)) await index.deleteByIds(some);
      const keys = 'SELECT key FROM memories WHERE chat_id = ?1';
      const [, deleted] = await sql.batch([
        { text: `DELETE FROM fresh_vectors WHERE key IN (${keys})`, params: [chatId] },
        { text: 'DELETE FROM memories WHERE chat_id = ?1', params: [chatId] },
      ]);
      return deleted?.changes ?? 0;
    },
  });
}

/**
 * Converts failures of Vectorize to an AgentError. They may be transient; wrong sizes are detected before a request.
 */
function withVectorizeErrors(index: Vectorize): Vectorize {
  const withVectorizeError = async <Value>(call: Promise<Value>): Promise<Value> => {
    try {
      return await call;
    } catch (thrown) {
      const { message } = AgentError.from(thrown);
      const what = `Vectorize failed: ${message}`;
      throw new AgentError({ kind: 'agent', code: 'vectorize', message: what, retryable: true });
    }
  };
  return {
    upsert: (vectors) => withVectorizeError(index.upsert(vectors)),
    query: (vector, options) => withVectorizeError(index.query(vector, options)),
    getByIds: (ids) => withVectorizeError(index.getByIds(ids)),
    deleteByIds: (ids) => withVectorizeError(index.deleteByIds(ids)),
  };
}

/**
 * Returns the id of a memory's vector, a hash of at most 64 characters that reveals nothing. It depends on the
 * embedder, so that vectors of different embedders are never confused, and on the row, so that the id of a deleted
 * memory is not reused.
 */
function vectorId(
  { runtime, embedder }: VectorizeSettings,
  { chatId, id, key }: KeptMemory,
): Promise<string> {
  return runtime.digest(JSON.stringify([embedder.name, chatId, id, key]));
}

/** Returns the namespace of a chat. Namespaces are limited to 64 bytes, but chat ids can be longer. */
function namespaceOf({ runtime }: VectorizeSettings, chatId: string): Promise<string> {
  return runtime.digest(chatId);
}

async function byVectorId(
  parts: VectorizeSettings,
  memories: readonly KeptMemory[],
): Promise<Map<string, KeptMemory>> {
  const ids = await Promise.all(memories.map((memory) => vectorId(parts, memory)));
  return new Map(
    ids.flatMap((id, at) => {
      const memory = memories[at];
      return memory === undefined ? [] : [[id, memory] as const];
    }),
  );
}

async function embedMissing(
  parts: VectorizeSettings,
  chatId: string,
  limit: number,
  options: EmbedOptions,
): Promise<void> {
  const { sql, embedder, runtime } = parts;
  for (let done = 0; done < limit; done += batchSize) {
    const missing = await listUnembedded(sql, chatId, embedder.name, batchSize);
    if (missing.length === 0) return;
    const texts = missing.map(({ text }) => text);
    const vectors = await embedTexts(embedder, texts, 'document', options);
    const pairs = missing.map((memory, at) => ({ memory, vector: vectors[at] ?? new Float32Array() }));
    await give(parts, chatId, pairs);
    await sql.batch(
      pairs.flatMap(({ memory: { key }, vector }) => [
        {
          text: `INSERT OR REPLACE INTO fresh_vectors (key, embedder, vector, given_at)
            SELECT key, ?2, ?3, ?4 FROM memories WHERE key = ?1`,
          params: [key, embedder.name, bytesOf(vector), runtime.now()],
        },
        recordEmbedder(embedder.name, key),
      ]),
    );
  }
}

interface Pair {
  readonly memory: KeptMemory;
  readonly vector: Float32Array;
}

async function give(parts: VectorizeSettings, chatId: string, pairs: readonly Pair[]): Promise<void> {
  const namespace = await namespaceOf(parts, chatId);
  const entries = pairs.map(async ({ memory, vector }) => ({
    id: await vectorId(parts, memory),
    values: [...vector],
    namespace,
  }));
  await parts.index.upsert(await Promise.all(entries));
}

async function freshVectors(
  { sql, embedder }: VectorizeSettings,
  chatId: string,
): Promise<readonly (Pair & { readonly givenAt: number })[]> {
  const { rows } = await sql.run(
    `SELECT m.key, m.id, m.text, m.created_at, f.vector, f.given_at FROM memories AS m
     JOIN fresh_vectors AS f ON f.key = m.key WHERE m.chat_id = ?1 AND f.embedder = ?2`,
    [chatId, embedder.name],
  );
  return rows.flatMap((row) => {
    const { vector } = row;
    if (!(vector instanceof Uint8Array)) return [];
    const memory = {
      ...{ key: numberIn(row, 'key'), id: textIn(row, 'id'), chatId },
      ...{ text: textIn(row, 'text'), createdAt: textIn(row, 'created_at') },
    };
    return [{ memory, vector: vectorIn(vector), givenAt: numberIn(row, 'given_at') }];
  });
}

/** Deletes stored vectors that the index now returns, and writes vectors again that it seems to have lost. */
async function settle(parts: VectorizeSettings, chatId: string): Promise<void> {
  const { index, sql, runtime } = parts;
  for (const some of portions(await freshVectors(parts, chatId), idsAtOnce.get)) {
    const ids = await Promise.all(some.map(({ memory }) => vectorId(parts, memory)));
    const there = new Set((await index.getByIds(ids)).map(({ id }) => id));
    const isIndexed = (at: number) => there.has(ids[at] ?? '');
    const late = some.filter(({ givenAt }, at) => !isIndexed(at) && runtime.now() - givenAt > retryAfterMs);
    if (late.length > 0) await give(parts, chatId, late);
    const settled = some.filter((_, at) => isIndexed(at)).map(({ memory }) => memory.key);
    const keysOf = (keys: readonly number[]) =>
      `key IN (SELECT value FROM json_each('${JSON.stringify(keys)}'))`;
    await sql.batch([
      { text: `DELETE FROM fresh_vectors WHERE ${keysOf(settled)}` },
      {
        text: `UPDATE fresh_vectors SET given_at = ?1 WHERE ${keysOf(late.map(({ memory }) => memory.key))}`,
        params: [runtime.now()],
      },
    ]);
  }
}

async function scoresOf(
  parts: VectorizeSettings,
  chatId: string,
  queryVector: Float32Array,
  limit: number,
): Promise<Map<string, number>> {
  const { index, embedder } = parts;
  const namespace = await namespaceOf(parts, chatId);
  // Some results may belong to memories that were just deleted.
  const topK = Math.min(Math.max(Math.ceil(limit) * 3, 10), 100);
  const { matches } = await index.query([...queryVector], { topK, namespace });
  const scores = new Map(matches.map(({ id, score }) => [id, meaningScore(score, embedder.floor)]));
  for (const { memory, vector } of await freshVectors(parts, chatId))
    if (vector.length === queryVector.length)
      scores.set(await vectorId(parts, memory), meaningScore(cosine(queryVector, vector), embedder.floor));
  return scores;
}

function bestMemories(
  memories: ReadonlyMap<string, KeptMemory>,
  scores: ReadonlyMap<string, number>,
  { limit, floor }: { readonly limit: number; readonly floor: number },
): Recalled[] {
  return [...scores]
    .flatMap(([id, score]) => {
      const memory = memories.get(id);
      return memory === undefined || score < floor ? [] : [{ key: memory.key, ...toMemory(memory), score }];
    })
    .sort((one, other) => other.score - one.score || other.key - one.key)
    .slice(0, Math.max(Math.floor(limit), 0))
    .map(({ key: _, ...recalled }) => recalled);
}

function* portions<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
