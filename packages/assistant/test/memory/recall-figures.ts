import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vectorizeMemory } from '../../src/cloudflare/vectorize-memory.ts';
import type { Embedder } from '../../src/memory/embedder.ts';
import { embedderFrom } from '../../src/memory/embedder-from.ts';
import { lexicalEmbedder } from '../../src/memory/lexical-embedder.ts';
import type { MemoryIndex } from '../../src/memory/memory-index.ts';
import { recallFor } from '../../src/memory/recall.ts';
import { contentWords } from '../../src/memory/words.ts';
import { sqliteMemory } from '../../src/sqlite/sqlite-memory.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import type { Sql } from '../../src/storage/sql.ts';
import { fakeVectorize } from '../../src/testing/fake-vectorize.ts';
import { facts, synonyms, unrelated } from '../data/recall.ts';

/** Recall results, counted over 40 facts and 40 unrelated questions. */
export interface RecallFigures {
  readonly memory: string;
  readonly embedder: string;
  /** Facts recalled for a question that contains one word of the fact. */
  readonly hits: number;
  /** Facts recalled for a question that contains no word of the fact. */
  readonly hitsByMeaning: number;
  /** Facts recalled as the first result, for both kinds of questions together. */
  readonly first: number;
  /** Unrelated questions for which a memory was recalled. */
  readonly falseRecalls: number;
  /** Recalled memories of another chat, over all questions. */
  readonly leaks: number;
}

const meanings = 1024;

/** Weight of a word without a known meaning, relative to a word with one. */
const wordShare = 0.4;

/**
 * Returns a stand-in for an embedder of a provider: each known meaning has its own dimension,
 * which words of the same meaning share; every other word is hashed to a dimension. The embedder
 * is not trained: it shows how a memory performs with good vectors.
 */
export function meaningEmbedder(): Embedder {
  const meaningOf = new Map(
    synonyms.flatMap((group, at) =>
      group.flatMap((word) => contentWords(word).map(({ stem }) => [stem, at])),
    ),
  ) as ReadonlyMap<string, number>;
  const vectorOf = (text: string) => {
    const vector = new Float32Array(meanings);
    for (const { stem, weight } of contentWords(text)) {
      const meaning = meaningOf.get(stem);
      const place = meaning ?? synonyms.length + (hashOf(stem) % (meanings - synonyms.length));
      vector[place] = Math.max(vector[place] ?? 0, meaning === undefined ? weight * wordShare : weight);
    }
    return vector;
  };
  return embedderFrom({
    name: 'meanings',
    dimensions: meanings,
    floor: 0.4,
    embed: async (texts) => texts.map(vectorOf),
  });
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = (hash * 31 + text.charCodeAt(index)) >>> 0;
  return hash;
}

/** Asks one memory all questions, after two chats have stored the same facts. */
async function ask(name: string, memory: MemoryIndex, embedder: Embedder): Promise<RecallFigures> {
  const known = (chatId: string, from: number, step: number) =>
    facts.map(({ fact }, at) => ({
      ...{ id: `fact-${at}`, chatId, text: fact },
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, from + at * step)).toISOString(),
    }));
  await memory.add(known('ann', 0, 1));
  // Facts of another user, which ann must never receive. Each of them is marked.
  await memory.add(known('ben', 0, 1).map((one) => ({ ...one, text: `${one.text} (ben)` })));
  const figures = { hits: 0, hitsByMeaning: 0, first: 0, falseRecalls: 0, leaks: 0 };
  const recall = async (question: string) => {
    const found = await recallFor(memory, 'ann', question, {
      report: (error) => {
        throw error;
      },
    });
    figures.leaks += found.filter(({ chatId, text }) => chatId !== 'ann' || text.endsWith('(ben)')).length;
    return found.map(({ id }) => id);
  };
  for (const [at, { asked, meant }] of facts.entries()) {
    for (const [question, key] of [[asked, 'hits'] as const, [meant, 'hitsByMeaning'] as const]) {
      const found = await recall(question);
      figures[key] += Number(found.includes(`fact-${at}`));
      figures.first += Number(found[0] === `fact-${at}`);
    }
  }
  for (const question of unrelated) figures.falseRecalls += Number((await recall(question)).length > 0);
  // A chat without memories recalls nothing, even if other chats have memories.
  for (const { asked } of facts) figures.leaks += (await recallFor(memory, 'cy', asked)).length;
  return { memory: name, embedder: embedder.name, ...figures };
}

/** Returns the results of both memories, each with the offline and the stand-in embedder. */
export async function recallFigures(): Promise<readonly RecallFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-recall-'));
  const figures: RecallFigures[] = [];
  try {
    for (const embedder of [lexicalEmbedder(), meaningEmbedder()]) {
      const index = fakeVectorize({ dimensions: embedder.dimensions, immediate: true });
      const memories: Record<string, (sql: Sql) => MemoryIndex> = {
        sqlite: (sql) => sqliteMemory({ sql, embedder }),
        vectorize: (sql) => vectorizeMemory({ sql, embedder, index }),
      };
      for (const [name, over] of Object.entries(memories)) {
        const sql = sqliteSql({ file: join(folder, `${name}-${embedder.name}.db`) });
        figures.push(await ask(name, over(sql), embedder));
        sql.close();
      }
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
