import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeRuntime } from '@cobbler/agent/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { vectorizeMemory } from '../../src/cloudflare/vectorize-memory.ts';
import { lexicalEmbedder } from '../../src/memory/lexical-embedder.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { fakeVectorize } from '../../src/testing/fake-vectorize.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-vectorize-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function begin() {
  const runtime = fakeRuntime();
  const embedder = lexicalEmbedder();
  const sql = sqliteSql({ file: join(folder, `${files++}.db`) });
  const index = fakeVectorize({ dimensions: embedder.dimensions });
  const memory = vectorizeMemory({ index, sql, embedder, runtime });
  const fresh = async () => (await sql.run('SELECT count(*) AS n FROM fresh_vectors')).rows[0]?.['n'];
  const add = (id: string, text: string, chatId = 'chat') =>
    memory.add([{ id, chatId, text, createdAt: '2026-01-01T00:00:00.000Z' }]);
  return { runtime, sql, index, memory, fresh, add };
}

describe('the memory in Vectorize [S3.12]', () => {
  it('keeps a vector in D1 only until Vectorize returns it', async () => {
    const { index, memory, fresh, add } = begin();
    await add('volvo', 'The user drives a Volvo.');
    expect([index.size, await fresh()]).toEqual([0, 1]);
    expect(await memory.search('chat', 'my Volvo')).toHaveLength(1);
    index.settle();
    await add('cello', 'The user plays the cello.');
    expect([index.size, await fresh()]).toEqual([1, 1]);
    expect(await memory.search('chat', 'my Volvo')).toHaveLength(1);
  });

  it('after 15 minutes, writes a lost vector to Vectorize again', async () => {
    const { index, runtime, memory, fresh, add } = begin();
    await add('volvo', 'The user drives a Volvo.');
    index.lose();
    await runtime.advance(10 * 60_000);
    await add('one', 'Something.');
    index.settle();
    expect(index.size).toBe(1);
    await runtime.advance(6 * 60_000);
    await add('two', 'Something else.');
    index.settle();
    expect(index.size).toBe(3);
    expect(await memory.search('chat', 'my Volvo')).toHaveLength(1);
    await add('three', 'And more.');
    expect(await fresh()).toBe(1);
  });

  it('does not return a forgotten memory that Vectorize still returns', async () => {
    const { index, memory, add } = begin();
    await add('volvo', 'The user drives a Volvo.');
    index.settle();
    expect(await memory.forget('chat')).toBe(1);
    // Vectorize has not deleted the vector yet, and a new memory gets the same id.
    expect(index.size).toBe(1);
    await add('volvo', 'The user plays the cello.');
    expect(await memory.search('chat', 'my Volvo')).toEqual([]);
    index.settle();
    expect(index.size).toBe(1);
    expect((await memory.search('chat', 'my cello')).map(({ text }) => text)).toEqual([
      'The user plays the cello.',
    ]);
  });

  it('returns no memory of another chat, even if Vectorize ignores namespaces [S3.13]', async () => {
    const { index, sql, runtime, add } = begin();
    await add('volvo', 'The user drives a Volvo.', 'ann');
    index.settle();
    const everywhere = {
      ...index,
      async query(vector: number[], options: { topK: number; namespace: string }) {
        const { matches } = await index.query(vector, options);
        const all = await Promise.all(
          ['ann', 'ben'].map(async (chatId) =>
            index.query(vector, { topK: options.topK, namespace: await runtime.digest(chatId) }),
          ),
        );
        return { matches: [...matches, ...all.flatMap((one) => one.matches)] };
      },
    };
    const memory = vectorizeMemory({ index: everywhere, sql, embedder: lexicalEmbedder(), runtime });
    await memory.add([{ id: 'x', chatId: 'ben', text: 'Ben has a Volvo too.', createdAt: '' }]);
    expect((await memory.search('ben', 'Volvo', { floor: 0 })).map(({ chatId }) => chatId)).toEqual(['ben']);
  });

  it('reports a failure of Vectorize, keeps the text, and embeds it on the next search', async () => {
    const { index, sql, runtime } = begin();
    let isDown = true;
    const shaky = {
      ...index,
      upsert: (entries: Parameters<typeof index.upsert>[0]) =>
        isDown ? Promise.reject(new Error('down')) : index.upsert(entries),
    };
    const memory = vectorizeMemory({ index: shaky, sql, embedder: lexicalEmbedder(), runtime });
    const volvo = { id: 'volvo', chatId: 'chat', text: 'The user drives a Volvo.', createdAt: '' };
    await expect(memory.add([volvo])).rejects.toMatchObject({ code: 'vectorize', retryable: true });
    expect(await memory.list('chat')).toEqual([volvo]);
    isDown = false;
    expect(await memory.search('chat', 'my Volvo')).toHaveLength(1);
  });
});
