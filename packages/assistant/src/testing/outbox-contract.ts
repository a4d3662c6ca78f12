import { AgentError } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { MessagePart } from '../channel/channel.ts';
import type { Outbox, SendAttempt } from '../storage/outbox.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectError, expectSame, placeCases } from './place.ts';

/** The requirements of every outbox, as a list of cases for any test runner. */
export function outboxContract(subject: PlaceSubject<Outbox>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<Outbox>['run']) => ({ group, name, run });

const piece: MessagePart = { text: 'Grüße 🙂', markup: '<b>Grüße</b> 🙂' };

/** A channel that counts: sends with ids `1`, `2`, ... */
function counter() {
  const sent: MessagePart[] = [];
  const tries: { readonly isRepeat: boolean }[] = [];
  return {
    sent,
    tries,
    send: async (given: MessagePart, { isRepeat }: SendAttempt) => {
      sent.push(given);
      tries.push({ isRepeat });
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
  the('deliver', 'a part is sent once, however often it is requested [S3.5]', async ({ store, again }) => {
    const { sent, send } = counter();
    const first = { state: 'sent', messageId: '1' };
    expectSame(await store.deliver('key', 'chat', piece, send), first, 'the first time');
    expectSame(await store.deliver('key', 'chat', piece, send), first, 'the second time');
    expectSame(await (await again()).deliver('key', 'chat', piece, send), first, 'in another life');
    expectSame(sent, [piece], 'what was sent');
  }),
  the('deliver', 'what came with a key first is what is sent', async ({ store, again, runtime }) => {
    const { sent, send } = counter();
    await expectError(store.deliver('key', 'chat', piece, failing(down)), 'the first try');
    await runtime.advance(60_000);
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
      await Promise.all(
        lives.map((life) =>
          life.deliver(`key-${round}`, 'chat', piece, send).catch((error: unknown) => {
            // Another one is sending it just now.
            if (!AgentError.is(error) || error.code !== 'retry_later') throw error;
          }),
        ),
      );
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
  the('doubt', 'a piece whose process died is sent again as a repeat', async ({ store, again, runtime }) => {
    const dead = hanging();
    void store.deliver('key', 'chat', piece, dead.send).catch(() => {});
    await dead.begun;
    const { tries, send } = counter();
    const next = await again();
    const early = await expectError(next.deliver('key', 'chat', piece, send), 'while it may be alive');
    expectSame([early.code, early.retryable, tries.length], ['retry_later', true, 0], 'the answer');
    await runtime.advance(early.retryAfterMs ?? 0);
    expectSame((await next.deliver('key', 'chat', piece, send)).state, 'sent', 'the next life');
    expectSame(tries, [{ isRepeat: true }], 'what the channel was told');
    const [entry] = await next.list();
    expectSame([entry?.attempts, entry?.doubts], [2, 1], 'what is known of it');
  }),
  the('doubt', 'who was sending after all knows better', async ({ store, again }) => {
    const slow = hanging();
    const delivery = store.deliver('key', 'chat', piece, slow.send);
    await slow.begun;
    const { sent, send } = counter();
    const other = await again();
    await expectError(other.deliver('key', 'chat', piece, send), 'the other, at first');
    slow.end.resolve('77');
    const outcome = { state: 'sent', messageId: '77' };
    expectSame(await delivery, outcome, 'the sender');
    expectSame(await other.deliver('key', 'chat', piece, send), outcome, 'the other');
    expectSame(sent, [], 'what the other sent');
  }),
  the(
    'doubt',
    'a piece that may have been sent is sent again as a repeat',
    async ({ store, again, runtime }) => {
      for (const [key, thrown] of Object.entries({ unsure, odd: new TypeError('odd') })) {
        const { tries, send } = counter();
        const error = await expectError(store.deliver(key, 'chat', piece, failing(thrown)), key);
        expectSame([error.retryable, (error.retryAfterMs ?? 0) > 0], [true, true], `${key}: try again`);
        const early = await expectError((await again()).deliver(key, 'chat', piece, send), `${key}, early`);
        expectSame([early.code, early.retryAfterMs], ['retry_later', error.retryAfterMs], `${key}, early`);
        await runtime.advance(error.retryAfterMs ?? 0);
        const later = await again();
        expectSame((await later.deliver(key, 'chat', piece, send)).state, 'sent', `${key} again`);
        expectSame(tries, [{ isRepeat: true }], `${key}: what the channel was told`);
      }
    },
  ),
  the(
    'doubt',
    'a piece in doubt stays a repeat after a failure that is certain',
    async ({ store, runtime }) => {
      const { tries, send } = counter();
      for (const error of [unsure, down]) {
        await expectError(store.deliver('key', 'chat', piece, failing(error)), 'a try');
        await runtime.advance(60_000);
      }
      await store.deliver('key', 'chat', piece, send, { replyTo: '9' });
      expectSame(tries, [{ isRepeat: true }], 'what the channel was told');
    },
  ),
  the('doubt', 'tries that may have arrived are bounded, over all lives', async ({ again, runtime }) => {
    const { sent, send } = counter();
    const pauses: number[] = [];
    for (let life = 1; life <= 3; life += 1) {
      const error = await expectError(
        (await again()).deliver('key', 'chat', piece, failing(unsure)),
        `life ${life}`,
      );
      pauses.push(error.retryAfterMs ?? 0);
      await runtime.advance(error.retryAfterMs ?? 0);
    }
    expectSame(pauses, [1000, 2000, 4000], 'the pauses');
    const last = await (await again()).deliver('key', 'chat', piece, failing(unsure));
    expectSame(last, { state: 'maybe_sent' }, 'the last');
    await runtime.advance(600_000);
    expectSame((await (await again()).deliver('key', 'chat', piece, send)).state, 'maybe_sent', 'later');
    expectSame(sent, [], 'what was sent then');
  }),
  the('doubt', 'a piece whose processes die each time is left as maybe sent', async ({ again, runtime }) => {
    const { sent, send } = counter();
    for (let life = 1; life <= 4; life += 1) {
      const dead = hanging();
      void (await again()).deliver('key', 'chat', piece, dead.send).catch(() => {});
      await dead.begun;
      await runtime.advance(600_000);
    }
    const outcome = await (await again()).deliver('key', 'chat', piece, send);
    expectSame([outcome, sent.length], [{ state: 'maybe_sent' }, 0], 'the outcome');
  }),
  the(
    'failure',
    'a piece that was certainly not sent can be tried again',
    async ({ store, again, runtime }) => {
      const error = await expectError(store.deliver('key', 'chat', piece, failing(down)), 'the first try');
      expectSame([error.kind, error.message], ['network', 'down'], 'what it failed with');
      const [entry] = await store.list({ state: 'planned' });
      expectSame([entry?.attempts, entry?.error?.message], [1, 'down'], 'what is known of it');
      const { tries, send } = counter();
      const life = await again();
      await runtime.advance(error.retryAfterMs ?? 0);
      expectSame((await life.deliver('key', 'chat', piece, send)).state, 'sent', 'the second try');
      const [done] = await life.list();
      expectSame([done?.attempts, done?.error], [2, undefined], 'what is known then');
      expectSame(tries, [{ isRepeat: false }], 'what the channel was told');
    },
  ),
  the('failure', 'when it may be tried again is kept', async ({ store, again, runtime }) => {
    await expectError(store.deliver('key', 'chat', piece, failing(wait)), 'the try');
    const [entry] = await store.list();
    expectSame(entry?.nextTryAt, runtime.now() + 7000, 'the time');
    const early = await expectError(
      (await again()).deliver('key', 'chat', piece, counter().send),
      'before that time',
    );
    expectSame([early.code, early.retryAfterMs], ['retry_later', 7000], 'the answer');
    await runtime.advance(7000);
    await store.deliver('key', 'chat', piece, counter().send);
    expectSame((await store.list())[0]?.nextTryAt, undefined, 'the time once it is sent');
  }),
  the('failure', 'tries are bounded, over all lives', async ({ again, runtime }) => {
    let tries = 0;
    let outcome: unknown;
    for (; outcome === undefined && tries < 50; tries += 1) {
      const life = await again();
      outcome = await life.deliver('key', 'chat', piece, failing(down)).catch(() => undefined);
      await runtime.advance(60_000);
    }
    expectSame([tries, outcome], [21, { state: 'given_up', error: down.toJSON() }], 'the end');
  }),
  the(
    'answer',
    'the answer to a message is found, by the question and by each of its pieces',
    async ({ store }) => {
      const { send } = counter();
      expectSame(await store.answer('chat'), undefined, 'at first');
      const answers = ['1', '2'].map((id) => ({
        id,
        chatId: 'chat',
        markdown: `**${id}**`,
        replyTo: `q${id}`,
      }));
      for (const answer of answers) {
        await store.keepAnswer(answer);
        await store.keepAnswer({ ...answer, markdown: 'other' });
        const of = { answer: answer.id, replyTo: answer.replyTo };
        await store.deliver(`${answer.id}/1`, 'chat', piece, send, of);
      }
      expectSame(await store.answer('chat'), answers[1], 'the latest');
      expectSame(await store.answer('chat', 'q1'), answers[0], 'by the question');
      expectSame(await store.answer('chat', '1'), answers[0], 'by a piece');
      expectSame(await store.answer('chat', '7'), undefined, 'of a message without an answer');
      expectSame(await store.answer('other', '1'), undefined, 'in another chat');
      await store.forget('chat');
      expectSame(await store.answer('chat'), undefined, 'once it is forgotten');
    },
  ),
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
    await expectError(store.deliver('doubt', 'chat', piece, failing(unsure)), 'a try in doubt');
    expectSame(await store.giveUp('doubt', gone), true, 'whether a piece in doubt was given up');
    expectSame(await stateOf(store, 'doubt'), 'maybe_sent', 'what it is then');
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
    const expected = {
      ...{ key: 'a', chatId: 'one', piece, state: 'sent', attempts: 1, doubts: 0 },
      messageId: '1',
    };
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
