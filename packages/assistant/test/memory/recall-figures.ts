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

/** What came of asking, of 40 each. */
export interface RecallFigures {
  readonly memory: string;
  readonly embedder: string;
  /** The right fact among those recalled, asked in words of which one is in it. */
  readonly hits: number;
  /** The same, asked without any of its words. */
  readonly hitsByMeaning: number;
  /** The right fact as the first of them, in both ways of asking together. */
  readonly first: number;
  /** Questions that nothing fits and something was recalled for all the same. */
  readonly falseRecalls: number;
  /** Memories of another chat that were recalled, in all questions. */
  readonly leaks: number;
}

const meanings = 1024;

/** What a word alone counts for beside a meaning. */
const wordShare = 0.4;

/**
 * Stands for the embeddings of a provider: every meaning has a direction of its own, words that mean the same share
 * it, words without a known meaning have one each. Nothing is learnt here; it shows what the memory makes of good vectors.
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

/** Asks everything of one memory, two chats of which know the same kind of things. */
async function ask(name: string, memory: MemoryIndex, embedder: Embedder): Promise<RecallFigures> {
  const known = (chatId: string, from: number, step: number) =>
    facts.map(({ fact }, at) => ({
      ...{ id: `fact-${at}`, chatId, text: fact },
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, from + at * step)).toISOString(),
    }));
  await memory.add(known('ann', 0, 1));
  // Another person's facts, of which ann must never hear; each is marked.
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
  // Whoever has no memories recalls none, whatever others have.
  for (const { asked } of facts) figures.leaks += (await recallFor(memory, 'cy', asked)).length;
  return { memory: name, embedder: embedder.name, ...figures };
}

/** Both memories, with the offline embedder and with the stand-in for a provider's. */
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
