import { AgentError } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { Embedder } from '../memory/embedder.ts';
import { lexicalEmbedder } from '../memory/lexical-embedder.ts';
import type { Memory, MemoryIndex } from '../memory/memory-index.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectError, expectSame, expectThat, placeCases } from './place.ts';

/** Returns the requirements of every memory as test cases for any test runner. */
export function memoryContract(subject: PlaceSubject<MemoryIndex>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<MemoryIndex>['run']) => ({ group, name, run });

const texts = {
  volvo: 'The user drives a blue Volvo.',
  cello: 'The user plays the cello in an orchestra.',
  peanuts: 'The user is allergic to peanuts.',
  katze: 'Die Katze heißt Mimi.',
} as const;

function memory(id: string, text: string, chatId = 'chat'): Memory {
  return { id, chatId, text, createdAt: '2026-01-02T03:04:05.000Z' };
}

const known: readonly Memory[] = Object.entries(texts).map(([id, text]) => memory(id, text));

const idsOf = (memories: readonly Memory[]) => memories.map(({ id }) => id);

/** Returns an embedder that counts the texts it embeds, and can fail. */
function watchedEmbedder(name = 'watched', inner: Embedder = lexicalEmbedder()) {
  const seen = { documents: 0, queries: 0, failing: false };
  const embedder: Embedder = {
    ...{ name, dimensions: inner.dimensions, floor: inner.floor },
    async embed(given, purpose) {
      if (seen.failing)
        throw new AgentError({ kind: 'network', message: 'no embeddings now', retryable: true });
      seen[purpose === 'query' ? 'queries' : 'documents'] += given.length;
      return inner.embed(given, purpose);
    },
  };
  return { seen, embedder };
}

const definitions: readonly PlaceCase<MemoryIndex>[] = [
  the('search', 'finds a memory immediately, best first, with its score [S3.13]', async ({ store }) => {
    await store.add(known);
    const [found, ...rest] = await store.search('chat', 'Which colour is my Volvo?');
    const { score, ...whole } = found ?? { score: 0 };
    expectSame(whole, memory('volvo', texts.volvo), 'the first');
    expectThat(score >= 0.5 && score <= 1, `a score from 0.5 to 1, found ${score}`);
    expectSame(rest, [], 'the others');
  }),
  the('search', 'returns nothing for unrelated queries', async ({ store }) => {
    await store.add(known);
    for (const query of ['How far away is the moon?', '', '  ', '?!', 'the of and'])
      expectSame(await store.search('chat', query), [], JSON.stringify(query));
  }),
  the('search', 'respects the limit and the minimum score', async ({ store }) => {
    await store.add(
      Array.from({ length: 12 }, (_, at) => memory(`m${at}`, `Volvo number ${at} is in the garage.`)),
    );
    expectSame((await store.search('chat', 'Volvo garage')).length, 5, 'the number of results');
    expectSame(
      (await store.search('chat', 'Volvo garage', { limit: 8 })).length,
      8,
      'the number of results with limit 8',
    );
    expectSame(await store.search('chat', 'Volvo garage', { limit: 0 }), [], 'none');
    const all = await store.search('chat', 'Volvo garage', { limit: 12 });
    const scores = all.map(({ score }) => score);
    expectSame(
      scores,
      scores.toSorted((one, other) => other - one),
      'the scores',
    );
    expectSame(
      await store.search('chat', 'Volvo garage', { floor: 1.1 }),
      [],
      'the results above every score',
    );
    const low = await store.search('chat', 'Volvo garage', { floor: 0, limit: 12 });
    expectSame(low.length, 12, 'the number of results without a minimum score');
  }),
  the('search', 'accepts any text as a query', async ({ store }) => {
    await store.add(known);
    const odd = ['"', "' OR 1=1 --", 'volvo*', 'NEAR(a b)', 'a AND OR NOT', '{x}:y', '^-(', '\u0000', '🙂'];
    for (const query of [...odd, 'ü'.repeat(5000)]) await store.search('chat', query);
    expectSame(
      idsOf(await store.search('chat', 'volvo* OR "')),
      ['volvo'],
      'the results for a query with special characters',
    );
  }),
  the('chats', 'never returns memories of another chat [S3.13]', async ({ store }) => {
    await store.add([memory('one', texts.volvo, 'ann'), memory('one', texts.cello, 'ben')]);
    expectSame(await store.search('ben', 'Volvo', { floor: 0 }).then(idsOf), ['one'], 'the results');
    expectSame(
      (await store.search('ben', 'blue Volvo', { floor: 0 })).map(({ text }) => text),
      [texts.cello],
      'the text of the result',
    );
    expectSame(await store.search('cy', 'Volvo', { floor: 0 }), [], 'the results of a third chat');
    expectSame(await store.list('ann'), [memory('one', texts.volvo, 'ann')], 'the list');
    expectSame(await store.forget('ann'), 1, 'the number of deleted memories');
    expectSame(await store.list('ben'), [memory('one', texts.cello, 'ben')], 'the other list');
    expectSame((await store.search('ben', 'cello')).length, 1, 'the results of the other chat');
  }),
  the('chats', 'supports long chat ids with any characters', async ({ store }) => {
    const chatId = `tg:-100${'9'.repeat(80)}:ü'"`;
    await store.add([memory('m', texts.volvo, chatId)]);
    expectSame(idsOf(await store.search(chatId, 'my Volvo')), ['m'], 'the results');
  }),
  the('add', 'ignores memories that were added before [S3.12]', async ({ store, again }) => {
    await store.add(known);
    await store.add([...known, memory('volvo', 'Something else.')]);
    expectSame(await store.list('chat'), known, 'the list');
    expectSame(await (await again()).list('chat'), known, 'the list after reopening');
    expectSame(idsOf(await store.search('chat', 'Volvo')), ['volvo'], 'the results');
  }),
  the('add', 'accepts an empty list', async ({ store }) => {
    await store.add([]);
    expectSame(await store.list('chat'), [], 'the list');
  }),
  the('add', 'adds many memories in one call', async ({ store }) => {
    const many = Array.from({ length: 130 }, (_, at) => memory(`m${at}`, `Entry ${at} concerns item${at}.`));
    await store.add(many);
    expectSame((await store.list('chat')).length, 130, 'the number of memories');
    expectSame(idsOf(await store.search('chat', 'What about item107?')), ['m107'], 'the results');
  }),
  the('embedder', 'finds memories after reopening without embedding them again', async (fixture) => {
    const { embedder, seen } = watchedEmbedder();
    await (await fixture.again({ embedder })).add(known);
    expectSame(seen.documents, known.length, 'the number of embedded texts');
    const later = await fixture.again({ embedder });
    expectSame(idsOf(await later.search('chat', 'orchestra and cello')), ['cello'], 'the results');
    await later.add(known);
    expectSame(seen.documents, known.length, 'the total number of embedded texts');
  }),
  the('embedder', 'embeds all memories again for a new embedder, and loses none', async (fixture) => {
    await fixture.store.add(known);
    const { embedder, seen } = watchedEmbedder('watched-2');
    const later = await fixture.again({ embedder });
    expectSame(idsOf(await later.search('chat', 'my Volvo')), ['volvo'], 'the results');
    expectSame(seen.documents, known.length, 'the number of embedded texts');
    expectSame(await later.list('chat'), known, 'the list');
    await later.search('chat', 'my cello');
    expectSame(seen.documents, known.length, 'the number of embedded texts after the second search');
    expectSame(
      idsOf(await fixture.store.search('chat', 'my cello')),
      ['cello'],
      'the results of the old embedder',
    );
  }),
  the(
    'embedder',
    'reports a failed embedding, keeps the texts, and embeds them on the next attempt',
    async (fixture) => {
      const { embedder, seen } = watchedEmbedder();
      const store = await fixture.again({ embedder });
      seen.failing = true;
      const error = await expectError(store.add(known), 'adding');
      expectSame([error.kind, error.retryable], ['network', true], 'the error');
      expectSame(idsOf(await store.list('chat')), idsOf(known), 'the list');
      await expectError(store.search('chat', 'Volvo'), 'searching');
      seen.failing = false;
      await store.add(known);
      expectSame(idsOf(await store.search('chat', 'Volvo')), ['volvo'], 'the results');
    },
  ),
  the('embedder', 'rejects an embedder that returns too few or invalid vectors', async (fixture) => {
    const { embedder } = watchedEmbedder();
    const odd: Embedder[] = [
      { ...embedder, name: 'few', embed: async () => [] },
      { ...embedder, name: 'short', embed: async (given) => given.map(() => new Float32Array(3)) },
      {
        ...embedder,
        name: 'nan',
        embed: async (given) => given.map(() => new Float32Array(embedder.dimensions).fill(Number.NaN)),
      },
    ];
    for (const one of odd) {
      const error = await expectError((await fixture.again({ embedder: one })).add(known), one.name);
      expectSame(error.code, 'embedding', one.name);
    }
  }),
  the('forget', 'does not find deleted memories, and can add them again', async ({ store, again }) => {
    await store.add(known);
    expectSame(await store.forget('chat'), known.length, 'the number of deleted memories');
    expectSame(await store.forget('chat'), 0, 'the number of deleted memories the second time');
    for (const life of [store, await again()]) {
      expectSame(await life.list('chat'), [], 'the list');
      expectSame(await life.search('chat', 'Volvo', { floor: 0 }), [], 'the results');
    }
    await store.add([memory('cello', texts.volvo)]);
    expectSame(
      (await store.search('chat', 'Volvo')).map(({ text }) => text),
      [texts.volvo],
      'the results after adding a memory again',
    );
  }),
];
