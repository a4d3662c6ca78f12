import { AgentError } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { Piece } from '../channel.ts';
import type { Outbox } from '../outbox.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectError, expectSame, placeCases } from './place.ts';

/** What every outbox has to do, as a list of cases that any test runner can run. */
export function outboxContract(subject: PlaceSubject<Outbox>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<Outbox>['run']) => ({ group, name, run });

const piece: Piece = { text: 'Grüße 🙂', markup: '<b>Grüße</b> 🙂' };

/** A channel that counts: sends with ids `1`, `2`, ... */
function counter() {
  const sent: Piece[] = [];
  return {
    sent,
    send: async (given: Piece) => {
      sent.push(given);
      return String(sent.length);
    },
  };
}

const failing = (error: unknown) => () => Promise.reject(error);

const down = new AgentError({ kind: 'network', message: 'down', retryable: true });
const wait = new AgentError({ kind: 'rate_limit', message: 'slower', retryAfterMs: 7000 });
const unsure = new AgentError({ kind: 'network', code: 'maybe_sent', message: 'cut' });

/** A send that never comes back: its process is as good as dead. */
const hanging = () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const send = () => {
    begun.resolve();
    return end.promise;
  };
  return { send, begun: begun.promise, end };
};

const stateOf = async (outbox: Outbox, key = 'key') =>
  (await outbox.list()).find((entry) => entry.key === key)?.state;

const definitions: readonly PlaceCase<Outbox>[] = [
  the('deliver', 'S3.5 a piece is sent once, whoever asks again', async ({ store, again }) => {
    const { sent, send } = counter();
    const first = { state: 'sent', messageId: '1' };
    expectSame(await store.deliver('key', 'chat', piece, send), first, 'the first time');
    expectSame(await store.deliver('key', 'chat', piece, send), first, 'the second time');
    expectSame(await (await again()).deliver('key', 'chat', piece, send), first, 'in another life');
    expectSame(sent, [piece], 'what was sent');
  }),
  the('deliver', 'what came with a key first is what is sent', async ({ store, again }) => {
    const { sent, send } = counter();
    await expectError(store.deliver('key', 'chat', piece, failing(down)), 'the first try');
    await (await again()).deliver('key', 'chat', { text: 'Other.' }, send);
    expectSame(sent, [piece], 'what was sent');
  }),
  the('deliver', 'calls at once in one process are one call', async ({ store }) => {
    const { sent, send } = counter();
    const all = await Promise.all([1, 2, 3, 4].map(() => store.deliver('key', 'chat', piece, send)));
    expectSame(sent.length, 1, 'how often it was sent');
    expectSame(new Set(all.map((one) => JSON.stringify(one))).size, 1, 'how many answers there were');
  }),
  the('deliver', 'of several processes at once, one sends', async ({ store, again }) => {
    const { sent, send } = counter();
    const lives = [store, await again(), await again(), await again()];
    for (let round = 0; round < 5; round += 1)
      await Promise.all(lives.map((life) => life.deliver(`key-${round}`, 'chat', piece, send)));
    expectSame(sent.length, 5, 'how often something was sent');
    expectSame(
      (await store.list()).map(({ state }) => state),
      Array.from({ length: 5 }, () => 'sent'),
      'what became of them',
    );
  }),
  the('deliver', 'pieces with different keys are different', async ({ store }) => {
    const { sent, send } = counter();
    for (const key of ['run/1', 'run/2', 'run/10']) await store.deliver(key, 'chat', piece, send);
    expectSame(sent.length, 3, 'how many were sent');
  }),
  the('doubt', 'a piece found in the hands of a dead process is never sent again', async (scene) => {
    const { store, again } = scene;
    const dead = hanging();
    void store.deliver('key', 'chat', piece, dead.send).catch(() => {});
    await dead.begun;
    const { sent, send } = counter();
    const next = await again();
    expectSame(await next.deliver('key', 'chat', piece, send), { state: 'maybe_sent' }, 'the next life');
    expectSame(await (await again()).deliver('key', 'chat', piece, send), { state: 'maybe_sent' }, 'later');
    expectSame(sent, [], 'what was sent');
    expectSame((await next.list({ state: 'maybe_sent' })).length, 1, 'how many are listed as that');
  }),
  the('doubt', 'who was sending after all knows better', async ({ store, again }) => {
    const slow = hanging();
    const delivery = store.deliver('key', 'chat', piece, slow.send);
    await slow.begun;
    const { sent, send } = counter();
    const other = await again();
    await other.deliver('key', 'chat', piece, send);
    slow.end.resolve('77');
    expectSame(await delivery, { state: 'sent', messageId: '77' }, 'the sender');
    expectSame(
      await other.deliver('key', 'chat', piece, send),
      { state: 'sent', messageId: '77' },
      'the other',
    );
    expectSame(sent, [], 'what the other sent');
  }),
  the('doubt', 'a channel that does not know leaves a piece that may have been sent', async ({ store }) => {
    const { sent, send } = counter();
    for (const [key, error] of Object.entries({ unsure, odd: new TypeError('odd') })) {
      const delivery = await store.deliver(key, 'chat', piece, failing(error));
      expectSame(delivery, { state: 'maybe_sent' }, key);
      expectSame(await store.deliver(key, 'chat', piece, send), { state: 'maybe_sent' }, `${key} again`);
    }
    expectSame(sent, [], 'what was sent');
  }),
  the('failure', 'a piece that was certainly not sent can be tried again', async ({ store, again }) => {
    const error = await expectError(store.deliver('key', 'chat', piece, failing(down)), 'the first try');
    expectSame([error.kind, error.message], ['network', 'down'], 'what it failed with');
    const [entry] = await store.list({ state: 'planned' });
    expectSame([entry?.attempts, entry?.error?.message], [1, 'down'], 'what is known of it');
    const { sent, send } = counter();
    const life = await again();
    expectSame((await life.deliver('key', 'chat', piece, send)).state, 'sent', 'the second try');
    const [done] = await life.list();
    expectSame([done?.attempts, done?.error, sent.length], [2, undefined, 1], 'what is known then');
  }),
  the('failure', 'when it may be tried again is kept', async ({ store, runtime }) => {
    await expectError(store.deliver('key', 'chat', piece, failing(wait)), 'the try');
    const [entry] = await store.list();
    expectSame(entry?.nextTryAt, runtime.now() + 7000, 'the time');
    await store.deliver('key', 'chat', piece, counter().send);
    expectSame((await store.list())[0]?.nextTryAt, undefined, 'the time once it is sent');
  }),
  the('give up', 'only what is planned can be given up, and stays so', async ({ store }) => {
    const { sent, send } = counter();
    const gone = { kind: 'invalid', code: 'chat_gone', message: 'gone' } as const;
    await expectError(store.deliver('key', 'chat', piece, failing(down)), 'the try');
    expectSame(await store.giveUp('key', gone), true, 'whether it was given up');
    expectSame(await store.giveUp('key', gone), false, 'whether it was given up again');
    const delivery = await store.deliver('key', 'chat', piece, send);
    expectSame(delivery, { state: 'given_up', error: gone }, 'the next delivery');
    await store.deliver('other', 'chat', piece, send);
    expectSame(await store.giveUp('other', gone), false, 'whether what was sent was given up');
    expectSame(await store.giveUp('none', gone), false, 'whether what is not there was');
    expectSame([sent.length, await stateOf(store, 'other')], [1, 'sent'], 'what was sent');
  }),
  the('list', 'pieces are listed by state and chat, oldest first', async ({ store }) => {
    const { send } = counter();
    for (const [key, chatId] of Object.entries({ a: 'one', b: 'two', c: 'one' }))
      await store.deliver(key, chatId, piece, send);
    await expectError(store.deliver('d', 'one', piece, failing(down)), 'a try');
    const keys = async (filter: Parameters<Outbox['list']>[0]) =>
      (await store.list(filter)).map(({ key }) => key);
    expectSame(await keys({}), ['a', 'b', 'c', 'd'], 'all');
    expectSame(await keys({ state: 'sent', chatId: 'one' }), ['a', 'c'], 'sent in one chat');
    expectSame(await keys({ state: 'planned' }), ['d'], 'planned');
    expectSame(await keys({ limit: 2 }), ['a', 'b'], 'two');
    const [entry] = await store.list();
    const expected = { key: 'a', chatId: 'one', piece, state: 'sent', attempts: 1, messageId: '1' };
    expectSame(entry, expected, 'an entry');
  }),
  the('forget', 'a chat’s pieces are deleted, and old ones of all', async ({ store, runtime }) => {
    const { send } = counter();
    await store.deliver('a', 'one', piece, send);
    await store.deliver('b', 'two', piece, send);
    expectSame(await store.forget('one'), 1, 'how many there were');
    await expectError(store.deliver('c', 'two', piece, failing(down)), 'a try');
    await runtime.advance(1000);
    await store.deliver('d', 'two', piece, send);
    expectSame(await store.prune(runtime.now()), 1, 'how many were old and done');
    const left = (await store.list()).map(({ key }) => key);
    expectSame(left, ['c', 'd'], 'what is left');
  }),
];
