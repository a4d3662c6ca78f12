import type { ContractCase } from '@cobbler/agent/testing';
import type { ChatMessage, MessageStore } from '../storage/chat-message.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectSame, placeCases } from './place.ts';

/** Returns the requirements of every message store as test cases for any test runner. */
export function messageStoreContract(subject: PlaceSubject<MessageStore>): ContractCase[] {
  return placeCases(definitions, subject);
}

const time = '2026-01-02T03:04:05.678Z';

function message(id: string, chatId = 'chat', content = `Text of ${id}.`): ChatMessage {
  return { id, chatId, role: 'user', content, createdAt: time };
}

/** Adds messages `m1` to `mN` and returns their ids. */
async function fill(store: MessageStore, count: number, chatId = 'chat', prefix = 'm'): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
  for (const id of ids) await store.add(message(id, chatId));
  return ids;
}

const idsOf = (messages: readonly ChatMessage[]) => messages.map(({ id }) => id);

async function allOf(store: MessageStore, chatId = 'chat'): Promise<ChatMessage[]> {
  const found: ChatMessage[] = [];
  for await (const one of store.all(chatId)) found.push(one);
  return found;
}

const the = (group: string, name: string, run: PlaceCase<MessageStore>['run']) => ({ group, name, run });

const definitions: readonly PlaceCase<MessageStore>[] = [
  the('add', 'returns messages unchanged [S3.10]', async ({ store, again }) => {
    const odd: ChatMessage[] = [
      message('one', 'chat:1@x', "Grüße, 世界 🇪🇺 \u0001\u2028 '; DROP TABLE messages; -- ?1"),
      { ...message('two', 'chat:1@x', ''), role: 'assistant' },
      message('three', 'chat:1@x', 'ü'.repeat(100_000)),
    ];
    for (const one of odd) expectSame(await store.add(one), true, 'the result');
    expectSame(await store.recent('chat:1@x', 10), odd, 'the messages');
    expectSame(await (await again()).recent('chat:1@x', 10), odd, 'the messages after reopening');
  }),
  the('add', 'ignores a message with an existing id', async ({ store }) => {
    await store.add(message('one'));
    expectSame(await store.add(message('one', 'chat', 'Other.')), false, 'the result');
    expectSame(await store.add(message('one', 'other')), false, 'the result in another chat');
    expectSame(await allOf(store), [message('one')], 'the messages');
  }),
  the('add', 'returns true to only one of several concurrent calls', async ({ store, again }) => {
    const stores = [store, await again(), await again()];
    const results = await Promise.all(stores.flatMap((one) => [1, 2, 3].map(() => one.add(message('one')))));
    expectSame(results.filter((isNew) => isNew).length, 1, 'the number of calls that returned true');
  }),
  the('recent', 'returns the last 20 of 25 messages, oldest first [S3.11]', async ({ store }) => {
    const ids = await fill(store, 25);
    expectSame(idsOf(await store.recent('chat', 20)), ids.slice(5), 'the messages');
  }),
  the('recent', 'keeps the order of messages with the same time', async ({ store }) => {
    const ids = ['z', 'a', 'm', 'b', 'y'];
    for (const id of ids) await store.add(message(id));
    expectSame(idsOf(await store.recent('chat', 5)), ids, 'the messages');
  }),
  the('recent', 'returns no messages newer than a given one', async ({ store }) => {
    await fill(store, 6);
    expectSame(
      idsOf(await store.recent('chat', 3, 'm4')),
      ['m2', 'm3', 'm4'],
      'the messages up to the fourth',
    );
    expectSame(idsOf(await store.recent('chat', 3, 'm1')), ['m1'], 'the messages up to the first');
    expectSame(idsOf(await store.recent('chat', 3, 'gone')), [], 'the messages up to an unknown one');
  }),
  the('recent', 'returns no messages for an invalid count and all for a large one', async ({ store }) => {
    const ids = await fill(store, 3);
    for (const count of [0, -1, Number.NaN])
      expectSame(await store.recent('chat', count), [], `${count} messages`);
    expectSame(
      idsOf(await store.recent('chat', Number.POSITIVE_INFINITY)),
      ids,
      'the messages without a limit',
    );
  }),
  the('chats', 'never returns messages of another chat', async ({ store }) => {
    await fill(store, 3, 'one', 'a');
    const other = await fill(store, 3, 'two', 'b');
    expectSame(
      await store.recent('one', 9, 'b3'),
      [],
      'the recent messages up to a later one of the other chat',
    );
    await store.startFresh('one');
    await store.summarised('one', 'b3');
    await store.summarised('one', 'a3');
    expectSame(idsOf(await store.recent('two', 9)), other, 'the recent messages');
    expectSame(await store.recent('two', 9, 'a3'), [], 'the recent messages up to one of the other chat');
    expectSame(idsOf(await store.unsummarised('two', 0, 9)), other, 'the messages that are not summarized');
    expectSame(idsOf(await allOf(store, 'two')), other, 'all messages');
    expectSame(await store.forget('one'), 3, 'the number of deleted messages');
    expectSame(idsOf(await allOf(store, 'two')), other, 'all messages after the other chat was deleted');
  }),
  the(
    'fresh',
    'hides earlier messages after a fresh start without deleting them',
    async ({ store, again }) => {
      await store.startFresh('chat');
      const ids = await fill(store, 4);
      await store.startFresh('chat');
      expectSame(await store.recent('chat', 9), [], 'the recent messages after the fresh start');
      await store.add(message('new'));
      expectSame(
        idsOf(await (await again()).recent('chat', 9)),
        ['new'],
        'the recent messages after a new one',
      );
      expectSame(idsOf(await allOf(store)), [...ids, 'new'], 'all messages');
      expectSame(
        idsOf(await store.unsummarised('chat', 0, 9)),
        [...ids, 'new'],
        'the messages that are not summarized',
      );
      await store.startFresh('chat');
      expectSame(await store.recent('chat', 9), [], 'the recent messages after another fresh start');
    },
  ),
  the('summary', 'omits the newest messages and respects the limit', async ({ store }) => {
    const ids = await fill(store, 10);
    expectSame(idsOf(await store.unsummarised('chat', 4, 99)), ids.slice(0, 6), 'all messages except four');
    expectSame(idsOf(await store.unsummarised('chat', 4, 2)), ids.slice(0, 2), 'two of these messages');
    expectSame(await store.unsummarised('chat', 10, 99), [], 'all messages except ten');
    expectSame(idsOf(await store.unsummarised('chat', 0, 99)), ids, 'all messages');
  }),
  the(
    'summary',
    'never returns summarized messages again, even after an older mark [S3.12]',
    async (fixture) => {
      const { store } = fixture;
      const ids = await fill(store, 10);
      await store.summarised('chat', 'm6');
      for (const late of ['m6', 'm3', 'gone']) await store.summarised('chat', late);
      expectSame(idsOf(await store.unsummarised('chat', 2, 99)), ids.slice(6, 8), 'the remaining messages');
      await store.summarised('chat', 'm7');
      const other = await fixture.again();
      expectSame(
        idsOf(await other.unsummarised('chat', 2, 99)),
        ['m8'],
        'the remaining messages after reopening',
      );
      expectSame(idsOf(await store.recent('chat', 20)), ids, 'the recent messages');
    },
  ),
  the('forget', 'deletes the messages and marks of a chat', async ({ store }) => {
    await fill(store, 5);
    await store.startFresh('chat');
    await store.summarised('chat', 'm5');
    expectSame(await store.forget('chat'), 5, 'the number of deleted messages');
    expectSame(await store.forget('chat'), 0, 'the number of deleted messages the second time');
    expectSame(await allOf(store), [], 'the messages');
    const ids = await fill(store, 5);
    expectSame(idsOf(await store.recent('chat', 9)), ids, 'the recent messages');
    expectSame(idsOf(await store.unsummarised('chat', 0, 9)), ids, 'the messages that are not summarized');
  }),
  the('all messages', 'returns all messages of a long chat in order', async ({ store }) => {
    const ids = await fill(store, 130);
    expectSame(idsOf(await allOf(store)), ids, 'the messages');
    expectSame(await allOf(store, 'empty'), [], 'the messages of an empty chat');
  }),
];
