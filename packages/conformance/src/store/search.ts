import type { SessionStore } from '@cobbler/agent';
import { ended, expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('search');
const afterReopening = reopening('search');

/** Returns the messages that contain the words, by session and event, with matches in brackets. */
async function found(store: SessionStore, words: string): Promise<readonly string[]> {
  const { hits = [] } = (await store.search?.({ words })) ?? {};
  return hits.map(({ sessionId, seq, snippet }) => {
    const pieces = snippet.map((piece, index) => (index % 2 === 1 ? `[${piece}]` : piece));
    return `${sessionId} ${seq} ${pieces.join('')}`;
  });
}

export const searchCases: readonly StoreCase[] = [
  the(
    'messages with all words are found, the latest first, and the matches are marked',
    async ({ store }) => {
      await write(store, 'one', [said('The quick brown fox'), ended('complete')]);
      await write(store, 'two', [said('A QUICK reply, quickly'), ended('complete')]);
      await write(store, 'three', [said('Nothing here'), ended('complete')]);
      expectEqual(
        await found(store, 'quick'),
        ['two 1 A [QUICK] reply, [quick]ly', 'one 1 The [quick] brown fox'],
        'the messages with the word',
      );
      expectEqual(await found(store, 'fox qui'), ['one 1 The [qui]ck brown [fox]'], 'those with two words');
      expectEqual(await found(store, 'rown'), [], 'those with the end of a word');
    },
  ),
  the('later events are found too, and deleted sessions are not', async ({ store }) => {
    await write(store, 'one', [said('first word'), ended('complete')]);
    expectEqual(await found(store, 'word'), ['one 1 first [word]'], 'the messages');
    await write(store, 'one', [said('second word'), ended('complete')]);
    await write(store, 'two', [said('third word'), ended('complete')]);
    expectEqual((await found(store, 'word')).length, 3, 'the number of messages');
    await store.delete('two');
    await store.delete('one');
    expectEqual(await found(store, 'word'), [], 'the messages after the deletion');
    await write(store, 'three', [said('fourth one'), ended('complete')]);
    expectEqual(await found(store, 'word'), [], 'the messages of a new session');
    expectEqual(await found(store, 'fourth'), ['three 1 [fourth] one'], 'the new message');
  }),
  the('any text is only words, and text without words finds nothing', async ({ store }) => {
    await write(store, 'one', [said('not AND near "quoted" über_alles 日本 50%'), ended('complete')]);
    for (const words of [
      '"quoted',
      'AND',
      'near*',
      'words:',
      "'; DROP TABLE sessions",
      'ÜBER',
      'alles)',
      '日本',
      '50',
    ])
      await store.search?.({ words });
    expectEqual((await found(store, 'near AND "quo')).length, 1, 'the number of messages');
    expectEqual((await found(store, 'Über alles')).length, 1, 'the number of messages in other case');
    for (const words of ['', '  ', '"*" ^ -', 'x'.repeat(10_000)])
      expectEqual(await found(store, words), [], `the messages with ${words.slice(0, 20)}`);
  }),
  the('a search continues from a cursor', async ({ store }) => {
    for (let index = 0; index < 5; index += 1)
      await write(store, `s${index}`, [said(`word ${index}`), ended('complete')]);
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.search?.({ words: 'word', limit: 2, ...(after !== undefined && { after }) });
      ids.push(...(page?.hits ?? []).map(({ sessionId }) => sessionId));
      after = page?.next;
    } while (after !== undefined);
    expectEqual(ids, ['s4', 's3', 's2', 's1', 's0'], 'the sessions');
    await expectRefused(() => store.search?.({ words: 'word', after: 'x' }), 'cursor', 'an invalid cursor');
  }),
  afterReopening('events of before a reopen are found', async (setup) => {
    await write(setup.store, 'one', wholeRun('hidden treasure'));
    await setup.reopen();
    expectEqual((await found(setup.store, 'treasure')).length > 0, true, 'whether it was found');
  }),
];
