import type { ContractCase } from '@cobbler/agent/testing';
import type { ChatMessage, MessageStore } from '../storage/chat-message.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectSame, placeCases } from './place.ts';

/** The requirements of every message store, as a list of cases for any test runner. */
export function messageStoreContract(subject: PlaceSubject<MessageStore>): ContractCase[] {
  return placeCases(definitions, subject);
}

const time = '2026-01-02T03:04:05.678Z';

function message(id: string, chatId = 'chat', content = `Text of ${id}.`): ChatMessage {
  return { id, chatId, role: 'user', content, createdAt: time };
}

/** Adds messages `m1` to `mN`, and gives their ids. */
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
  the('add', 'a message comes back as it was [S3.10]', async ({ store, again }) => {
    const odd: ChatMessage[] = [
      message('one', 'chat:1@x', "Grüße, 世界 🇪🇺 \u0001\u2028 '; DROP TABLE messages; -- ?1"),
      { ...message('two', 'chat:1@x', ''), role: 'assistant' },
      message('three', 'chat:1@x', 'ü'.repeat(100_000)),
    ];
    for (const one of odd) expectSame(await store.add(one), true, 'whether it is new');
    expectSame(await store.recent('chat:1@x', 10), odd, 'what is there');
    expectSame(await (await again()).recent('chat:1@x', 10), odd, 'what is there in another life');
  }),
  the('add', 'the same id again changes nothing', async ({ store }) => {
    await store.add(message('one'));
    expectSame(await store.add(message('one', 'chat', 'Other.')), false, 'whether it is new');
    expectSame(await store.add(message('one', 'other')), false, 'whether it is new in another chat');
    expectSame(await allOf(store), [message('one')], 'what is there');
  }),
  the('add', 'of many who add one message at once, one is told that it is new', async ({ store, again }) => {
    const stores = [store, await again(), await again()];
    const told = await Promise.all(stores.flatMap((one) => [1, 2, 3].map(() => one.add(message('one')))));
    expectSame(told.filter((isNew) => isNew).length, 1, 'how many were told so');
  }),
  the('recent', 'of 25 messages the last 20 are given, oldest first [S3.11]', async ({ store }) => {
    const ids = await fill(store, 25);
    expectSame(idsOf(await store.recent('chat', 20)), ids.slice(5), 'the messages');
  }),
  the('recent', 'messages of one moment stay in the order in which they came', async ({ store }) => {
    const ids = ['z', 'a', 'm', 'b', 'y'];
    for (const id of ids) await store.add(message(id));
    expectSame(idsOf(await store.recent('chat', 5)), ids, 'the messages');
  }),
  the('recent', 'nothing newer than a given message is shown', async ({ store }) => {
    await fill(store, 6);
    expectSame(idsOf(await store.recent('chat', 3, 'm4')), ['m2', 'm3', 'm4'], 'up to the fourth');
    expectSame(idsOf(await store.recent('chat', 3, 'm1')), ['m1'], 'up to the first');
    expectSame(idsOf(await store.recent('chat', 3, 'gone')), [], 'up to one that is not there');
  }),
  the('recent', 'a count that makes no sense gives none, a large one all', async ({ store }) => {
    const ids = await fill(store, 3);
    for (const count of [0, -1, Number.NaN])
      expectSame(await store.recent('chat', count), [], `${count} messages`);
    expectSame(idsOf(await store.recent('chat', Number.POSITIVE_INFINITY)), ids, 'any number of messages');
  }),
  the('chats', 'one chat never sees the messages of another', async ({ store }) => {
    await fill(store, 3, 'one', 'a');
    const other = await fill(store, 3, 'two', 'b');
    expectSame(await store.recent('one', 9, 'b3'), [], 'what is recent up to a later message of the other');
    await store.startFresh('one');
    await store.summarised('one', 'b3');
    await store.summarised('one', 'a3');
    expectSame(idsOf(await store.recent('two', 9)), other, 'what is recent');
    expectSame(await store.recent('two', 9, 'a3'), [], 'what is recent up to a message of the other');
    expectSame(idsOf(await store.unsummarised('two', 0, 9)), other, 'what is not summarised');
    expectSame(idsOf(await allOf(store, 'two')), other, 'all');
    expectSame(await store.forget('one'), 3, 'how many were forgotten');
    expectSame(idsOf(await allOf(store, 'two')), other, 'all after the other was forgotten');
  }),
  the('fresh', 'a fresh start hides what was before, and keeps it', async ({ store, again }) => {
    await store.startFresh('chat');
    const ids = await fill(store, 4);
    await store.startFresh('chat');
    expectSame(await store.recent('chat', 9), [], 'what is recent at first');
    await store.add(message('new'));
    expectSame(idsOf(await (await again()).recent('chat', 9)), ['new'], 'what is recent later');
    expectSame(idsOf(await allOf(store)), [...ids, 'new'], 'all');
    expectSame(idsOf(await store.unsummarised('chat', 0, 9)), [...ids, 'new'], 'what is not summarised');
    await store.startFresh('chat');
    expectSame(await store.recent('chat', 9), [], 'what is recent after another fresh start');
  }),
  the('summary', 'the newest are left out, and no more than asked for are given', async ({ store }) => {
    const ids = await fill(store, 10);
    expectSame(idsOf(await store.unsummarised('chat', 4, 99)), ids.slice(0, 6), 'all but four');
    expectSame(idsOf(await store.unsummarised('chat', 4, 2)), ids.slice(0, 2), 'two of them');
    expectSame(await store.unsummarised('chat', 10, 99), [], 'all but ten');
    expectSame(idsOf(await store.unsummarised('chat', 0, 99)), ids, 'all');
  }),
  the(
    'summary',
    'what was summarised is not given again, and the mark never goes back [S3.12]',
    async (scene) => {
      const { store } = scene;
      const ids = await fill(store, 10);
      await store.summarised('chat', 'm6');
      for (const late of ['m6', 'm3', 'gone']) await store.summarised('chat', late);
      expectSame(idsOf(await store.unsummarised('chat', 2, 99)), ids.slice(6, 8), 'what is left');
      await store.summarised('chat', 'm7');
      const other = await scene.again();
      expectSame(idsOf(await other.unsummarised('chat', 2, 99)), ['m8'], 'what is left in another life');
      expectSame(idsOf(await store.recent('chat', 20)), ids, 'what is recent: all the same');
    },
  ),
  the('forget', 'a chat that was forgotten begins anew, marks included', async ({ store }) => {
    await fill(store, 5);
    await store.startFresh('chat');
    await store.summarised('chat', 'm5');
    expectSame(await store.forget('chat'), 5, 'how many there were');
    expectSame(await store.forget('chat'), 0, 'how many there were then');
    expectSame(await allOf(store), [], 'what is there');
    const ids = await fill(store, 5);
    expectSame(idsOf(await store.recent('chat', 9)), ids, 'what is recent');
    expectSame(idsOf(await store.unsummarised('chat', 0, 9)), ids, 'what is not summarised');
  }),
  the('all', 'a long chat is given whole and in order', async ({ store }) => {
    const ids = await fill(store, 130);
    expectSame(idsOf(await allOf(store)), ids, 'the messages');
    expectSame(await allOf(store, 'empty'), [], 'those of a chat without any');
  }),
];
