import { AgentError } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { Embedder } from '../memory/embedder.ts';
import { lexicalEmbedder } from '../memory/lexical-embedder.ts';
import type { Memory, MemoryIndex } from '../memory/memory-index.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectError, expectSame, expectThat, placeCases } from './place.ts';

/** The requirements of every memory, as a list of cases for any test runner. */
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

/** An embedder that counts what it embeds, and can fail. */
function watched(name = 'watched', inner: Embedder = lexicalEmbedder()) {
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
  the(
    'search',
    'a memory is found as soon as it is there, best first, with its score [S3.13]',
    async ({ store }) => {
      await store.add(known);
      const [found, ...rest] = await store.search('chat', 'Which colour is my Volvo?');
      const { score, ...whole } = found ?? { score: 0 };
      expectSame(whole, memory('volvo', texts.volvo), 'the first');
      expectThat(score >= 0.5 && score <= 1, `a score from 0.5 to 1, found ${score}`);
      expectSame(rest, [], 'the others');
    },
  ),
  the('search', 'nothing that does not fit is given', async ({ store }) => {
    await store.add(known);
    for (const query of ['How far away is the moon?', '', '  ', '?!', 'the of and'])
      expectSame(await store.search('chat', query), [], JSON.stringify(query));
  }),
  the('search', 'the limit and the floor hold', async ({ store }) => {
    await store.add(
      Array.from({ length: 12 }, (_, at) => memory(`m${at}`, `Volvo number ${at} is in the garage.`)),
    );
    expectSame((await store.search('chat', 'Volvo garage')).length, 5, 'how many are given');
    expectSame((await store.search('chat', 'Volvo garage', { limit: 8 })).length, 8, 'how many of eight');
    expectSame(await store.search('chat', 'Volvo garage', { limit: 0 }), [], 'none');
    const all = await store.search('chat', 'Volvo garage', { limit: 12 });
    const scores = all.map(({ score }) => score);
    expectSame(
      scores,
      scores.toSorted((one, other) => other - one),
      'the scores',
    );
    expectSame(await store.search('chat', 'Volvo garage', { floor: 1.1 }), [], 'above every score');
    const low = await store.search('chat', 'Volvo garage', { floor: 0, limit: 12 });
    expectSame(low.length, 12, 'how many are given without a floor');
  }),
  the('search', 'no text of a question does harm', async ({ store }) => {
    await store.add(known);
    const odd = ['"', "' OR 1=1 --", 'volvo*', 'NEAR(a b)', 'a AND OR NOT', '{x}:y', '^-(', '\u0000', '🙂'];
    for (const query of [...odd, 'ü'.repeat(5000)]) await store.search('chat', query);
    expectSame(idsOf(await store.search('chat', 'volvo* OR "')), ['volvo'], 'a question with signs');
  }),
  the('chats', 'no memory of another chat is ever given [S3.13]', async ({ store }) => {
    await store.add([memory('one', texts.volvo, 'ann'), memory('one', texts.cello, 'ben')]);
    expectSame(await store.search('ben', 'Volvo', { floor: 0 }).then(idsOf), ['one'], 'what is found');
    expectSame(
      (await store.search('ben', 'blue Volvo', { floor: 0 })).map(({ text }) => text),
      [texts.cello],
      'the text that is found',
    );
    expectSame(await store.search('cy', 'Volvo', { floor: 0 }), [], 'what a third finds');
    expectSame(await store.list('ann'), [memory('one', texts.volvo, 'ann')], 'the list');
    expectSame(await store.forget('ann'), 1, 'how many were forgotten');
    expectSame(await store.list('ben'), [memory('one', texts.cello, 'ben')], 'the other list');
    expectSame((await store.search('ben', 'cello')).length, 1, 'what the other finds');
  }),
  the('chats', 'a chat may have a long id of any characters', async ({ store }) => {
    const chatId = `tg:-100${'9'.repeat(80)}:ü'"`;
    await store.add([memory('m', texts.volvo, chatId)]);
    expectSame(idsOf(await store.search(chatId, 'my Volvo')), ['m'], 'what is found');
  }),
  the('add', 'remembering again changes nothing [S3.12]', async ({ store, again }) => {
    await store.add(known);
    await store.add([...known, memory('volvo', 'Something else.')]);
    expectSame(await store.list('chat'), known, 'the list');
    expectSame(await (await again()).list('chat'), known, 'the list in another life');
    expectSame(idsOf(await store.search('chat', 'Volvo')), ['volvo'], 'what is found');
  }),
  the('add', 'nothing can be added, which changes nothing', async ({ store }) => {
    await store.add([]);
    expectSame(await store.list('chat'), [], 'the list');
  }),
  the('add', 'many are added at once', async ({ store }) => {
    const many = Array.from({ length: 130 }, (_, at) => memory(`m${at}`, `Entry ${at} concerns item${at}.`));
    await store.add(many);
    expectSame((await store.list('chat')).length, 130, 'how many there are');
    expectSame(idsOf(await store.search('chat', 'What about item107?')), ['m107'], 'what is found');
  }),
  the(
    'embedder',
    'another life finds what the first remembered, without embedding it again',
    async (scene) => {
      const { embedder, seen } = watched();
      await (await scene.again({ embedder })).add(known);
      expectSame(seen.documents, known.length, 'how many texts were embedded');
      const later = await scene.again({ embedder });
      expectSame(idsOf(await later.search('chat', 'orchestra and cello')), ['cello'], 'what is found');
      await later.add(known);
      expectSame(seen.documents, known.length, 'how many texts were embedded in the end');
    },
  ),
  the('embedder', 'with a new embedder everything is embedded anew, and nothing is lost', async (scene) => {
    await scene.store.add(known);
    const { embedder, seen } = watched('watched-2');
    const later = await scene.again({ embedder });
    expectSame(idsOf(await later.search('chat', 'my Volvo')), ['volvo'], 'what is found');
    expectSame(seen.documents, known.length, 'how many texts were embedded');
    expectSame(await later.list('chat'), known, 'the list');
    await later.search('chat', 'my cello');
    expectSame(seen.documents, known.length, 'how many texts were embedded by the second search');
    expectSame(idsOf(await scene.store.search('chat', 'my cello')), ['cello'], 'what the old embedder finds');
  }),
  the(
    'embedder',
    'when embedding fails, that is said, the texts stay, and the next try mends it',
    async (scene) => {
      const { embedder, seen } = watched();
      const store = await scene.again({ embedder });
      seen.failing = true;
      const error = await expectError(store.add(known), 'adding');
      expectSame([error.kind, error.retryable], ['network', true], 'the error');
      expectSame(idsOf(await store.list('chat')), idsOf(known), 'the list');
      await expectError(store.search('chat', 'Volvo'), 'searching');
      seen.failing = false;
      await store.add(known);
      expectSame(idsOf(await store.search('chat', 'Volvo')), ['volvo'], 'what is found');
    },
  ),
  the('embedder', 'an embedder that gives too few or odd vectors is refused', async (scene) => {
    const { embedder } = watched();
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
      const error = await expectError((await scene.again({ embedder: one })).add(known), one.name);
      expectSame(error.code, 'embedding', one.name);
    }
  }),
  the('forget', 'what was forgotten is not found, and can be learnt again', async ({ store, again }) => {
    await store.add(known);
    expectSame(await store.forget('chat'), known.length, 'how many there were');
    expectSame(await store.forget('chat'), 0, 'how many there were then');
    for (const life of [store, await again()]) {
      expectSame(await life.list('chat'), [], 'the list');
      expectSame(await life.search('chat', 'Volvo', { floor: 0 }), [], 'what is found');
    }
    await store.add([memory('cello', texts.volvo)]);
    expectSame(
      (await store.search('chat', 'Volvo')).map(({ text }) => text),
      [texts.volvo],
      'what is found of what was learnt again',
    );
  }),
];
