import { AgentError } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { MessagePart } from '../channel/channel.ts';
import type { Outbox, SendAttempt } from '../storage/outbox.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectError, expectSame, placeCases } from './place.ts';

/** Returns the requirements of every outbox as test cases for any test runner. */
export function outboxContract(subject: PlaceSubject<Outbox>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<Outbox>['run']) => ({ group, name, run });

const part: MessagePart = { text: 'Grüße 🙂', markup: '<b>Grüße</b> 🙂' };

/** Returns a channel that counts its messages and sends them with ids `1`, `2`, ... */
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

/** Returns a send that never completes, as if its process had crashed. */
const hanging = () => {
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const send = () => {
    started.resolve();
    return end.promise;
  };
  return { send, started: started.promise, end };
};

const stateOf = async (outbox: Outbox, key = 'key') =>
  (await outbox.list()).find((entry) => entry.key === key)?.state;

const definitions: readonly PlaceCase<Outbox>[] = [
  the('deliver', 'sends a part once, even if it is requested repeatedly [S3.5]', async ({ store, again }) => {
    const { sent, send } = counter();
    const first = { state: 'sent', messageId: '1' };
    expectSame(await store.deliver('key', 'chat', part, send), first, 'the first delivery');
    expectSame(await store.deliver('key', 'chat', part, send), first, 'the second delivery');
    expectSame(
      await (await again()).deliver('key', 'chat', part, send),
      first,
      'the delivery after reopening',
    );
    expectSame(sent, [part], 'the sent messages');
  }),
  the('deliver', 'sends the first part with a key', async ({ store, again, runtime }) => {
    const { sent, send } = counter();
    await expectError(store.deliver('key', 'chat', part, failing(down)), 'the first attempt');
    await runtime.advance(60_000);
    await (await again()).deliver('key', 'chat', { text: 'Other.' }, send);
    expectSame(sent, [part], 'the sent messages');
  }),
  the('deliver', 'joins concurrent calls in one process', async ({ store }) => {
    const { sent, send } = counter();
    const all = await Promise.all([1, 2, 3, 4].map(() => store.deliver('key', 'chat', part, send)));
    expectSame(sent.length, 1, 'the number of sends');
    expectSame(new Set(all.map((one) => JSON.stringify(one))).size, 1, 'the number of different results');
  }),
  the('deliver', 'sends from only one of several concurrent processes', async ({ store, again }) => {
    const { sent, send } = counter();
    const lives = [store, await again(), await again(), await again()];
    for (let round = 0; round < 5; round += 1)
      await Promise.all(
        lives.map((life) =>
          life.deliver(`key-${round}`, 'chat', part, send).catch((error: unknown) => {
            // Another process is sending it.
            if (!AgentError.is(error) || error.code !== 'retry_later') throw error;
          }),
        ),
      );
    expectSame(sent.length, 5, 'the number of sends');
    expectSame(
      (await store.list()).map(({ state }) => state),
      Array.from({ length: 5 }, () => 'sent'),
      'the states of the parts',
    );
  }),
  the('deliver', 'sends parts with different keys separately', async ({ store }) => {
    const { sent, send } = counter();
    for (const key of ['run/1', 'run/2', 'run/10']) await store.deliver(key, 'chat', part, send);
    expectSame(sent.length, 3, 'the number of sends');
  }),
  the('doubt', 'sends a part again as a repeat if its process crashed', async ({ store, again, runtime }) => {
    const dead = hanging();
    void store.deliver('key', 'chat', part, dead.send).catch(() => {});
    await dead.started;
    const { tries, send } = counter();
    const next = await again();
    const early = await expectError(
      next.deliver('key', 'chat', part, send),
      'a delivery while the process may be alive',
    );
    expectSame([early.code, early.retryable, tries.length], ['retry_later', true, 0], 'the result');
    await runtime.advance(early.retryAfterMs ?? 0);
    expectSame(
      (await next.deliver('key', 'chat', part, send)).state,
      'sent',
      'the state after the next delivery',
    );
    expectSame(tries, [{ isRepeat: true }], 'the attempts');
    const [entry] = await next.list();
    expectSame([entry?.attempts, entry?.doubts], [2, 1], 'the recorded attempts');
  }),
  the('doubt', 'uses the result of a slow sender that was still running', async ({ store, again }) => {
    const slow = hanging();
    const delivery = store.deliver('key', 'chat', part, slow.send);
    await slow.started;
    const { sent, send } = counter();
    const other = await again();
    await expectError(other.deliver('key', 'chat', part, send), 'the early delivery of the other process');
    slow.end.resolve('77');
    const outcome = { state: 'sent', messageId: '77' };
    expectSame(await delivery, outcome, 'the result of the slow sender');
    expectSame(await other.deliver('key', 'chat', part, send), outcome, 'the result of the other process');
    expectSame(sent, [], 'the messages of the other process');
  }),
  the(
    'doubt',
    'counts a part as sent when the user responds before the channel confirms it',
    async ({ store, again }) => {
      const dead = hanging();
      const delivery = store.deliver('run/ask/one/1', 'chat', part, dead.send);
      await dead.started;
      const { sent, send } = counter();
      const next = await again();
      for (const [keys, chatId] of [
        ['run/ask/one%', 'chat'],
        ['run/ask/two/', 'chat'],
        ['run/ask/one/', 'other'],
      ] as const)
        await next.confirm(keys, chatId, '5');
      expectSame(await stateOf(next, 'run/ask/one/1'), 'sending', 'the state after other confirmations');
      await next.confirm('run/ask/one/', 'chat', '7');
      const outcome = { state: 'sent', messageId: '7' };
      expectSame(await next.deliver('run/ask/one/1', 'chat', part, send), outcome, 'the next delivery');
      expectSame(sent, [], 'the messages of the next process');
      dead.end.resolve('7');
      expectSame(await delivery, outcome, 'the result of the slow sender');
    },
  ),
  the(
    'doubt',
    'sends a part that may have been sent again as a repeat',
    async ({ store, again, runtime }) => {
      for (const [key, thrown] of Object.entries({ unsure, odd: new TypeError('odd') })) {
        const { tries, send } = counter();
        const error = await expectError(store.deliver(key, 'chat', part, failing(thrown)), key);
        expectSame(
          [error.retryable, (error.retryAfterMs ?? 0) > 0],
          [true, true],
          `${key}: a retryable error with a delay`,
        );
        const early = await expectError((await again()).deliver(key, 'chat', part, send), `${key}, early`);
        expectSame([early.code, early.retryAfterMs], ['retry_later', error.retryAfterMs], `${key}, early`);
        await runtime.advance(error.retryAfterMs ?? 0);
        const later = await again();
        expectSame((await later.deliver(key, 'chat', part, send)).state, 'sent', `${key} again`);
        expectSame(tries, [{ isRepeat: true }], `${key}: the attempts`);
      }
    },
  ),
  the(
    'doubt',
    'still sends a part as a repeat after a definite failure if it may have been sent before',
    async ({ store, runtime }) => {
      const { tries, send } = counter();
      for (const error of [unsure, down]) {
        await expectError(store.deliver('key', 'chat', part, failing(error)), 'an attempt');
        await runtime.advance(60_000);
      }
      await store.deliver('key', 'chat', part, send, { replyTo: '9' });
      expectSame(tries, [{ isRepeat: true }], 'the attempts');
    },
  ),
  the('doubt', 'limits attempts that may have arrived, across restarts', async ({ again, runtime }) => {
    const { sent, send } = counter();
    const pauses: number[] = [];
    for (let life = 1; life <= 3; life += 1) {
      const error = await expectError(
        (await again()).deliver('key', 'chat', part, failing(unsure)),
        `attempt ${life}`,
      );
      pauses.push(error.retryAfterMs ?? 0);
      await runtime.advance(error.retryAfterMs ?? 0);
    }
    expectSame(pauses, [1000, 2000, 4000], 'the delays');
    const last = await (await again()).deliver('key', 'chat', part, failing(unsure));
    expectSame(last, { state: 'maybe_sent' }, 'the last attempt');
    await runtime.advance(600_000);
    expectSame((await (await again()).deliver('key', 'chat', part, send)).state, 'maybe_sent', 'later');
    expectSame(sent, [], 'the messages sent afterwards');
  }),
  the('doubt', 'ends a part as maybe_sent if its process crashes each time', async ({ again, runtime }) => {
    const { sent, send } = counter();
    for (let life = 1; life <= 4; life += 1) {
      const dead = hanging();
      void (await again()).deliver('key', 'chat', part, dead.send).catch(() => {});
      await dead.started;
      await runtime.advance(600_000);
    }
    const outcome = await (await again()).deliver('key', 'chat', part, send);
    expectSame([outcome, sent.length], [{ state: 'maybe_sent' }, 0], 'the outcome');
  }),
  the('failure', 'retries a part that was certainly not sent', async ({ store, again, runtime }) => {
    const error = await expectError(store.deliver('key', 'chat', part, failing(down)), 'the first attempt');
    expectSame([error.kind, error.message], ['network', 'down'], 'the error');
    const [entry] = await store.list({ state: 'planned' });
    expectSame([entry?.attempts, entry?.error?.message], [1, 'down'], 'the recorded attempts');
    const { tries, send } = counter();
    const life = await again();
    await runtime.advance(error.retryAfterMs ?? 0);
    expectSame((await life.deliver('key', 'chat', part, send)).state, 'sent', 'the second attempt');
    const [done] = await life.list();
    expectSame([done?.attempts, done?.error], [2, undefined], 'the attempts and the error after delivery');
    expectSame(tries, [{ isRepeat: false }], 'the attempts');
  }),
  the('failure', 'stores the time of the next attempt', async ({ store, again, runtime }) => {
    await expectError(store.deliver('key', 'chat', part, failing(wait)), 'the attempt');
    const [entry] = await store.list();
    expectSame(entry?.nextTryAt, runtime.now() + 7000, 'the time');
    const early = await expectError(
      (await again()).deliver('key', 'chat', part, counter().send),
      'a delivery before that time',
    );
    expectSame([early.code, early.retryAfterMs], ['retry_later', 7000], 'the result');
    await runtime.advance(7000);
    await store.deliver('key', 'chat', part, counter().send);
    expectSame((await store.list())[0]?.nextTryAt, undefined, 'the time after delivery');
  }),
  the('failure', 'limits attempts, across restarts', async ({ again, runtime }) => {
    let tries = 0;
    let outcome: unknown;
    for (; outcome === undefined && tries < 50; tries += 1) {
      const life = await again();
      outcome = await life.deliver('key', 'chat', part, failing(down)).catch(() => undefined);
      await runtime.advance(60_000);
    }
    expectSame(
      [tries, outcome],
      [21, { state: 'given_up', error: down.toJSON() }],
      'the number of attempts and the outcome',
    );
  }),
  the('answer', 'finds an answer by its question and by each of its parts', async ({ store }) => {
    const { send } = counter();
    expectSame(await store.answer('chat'), undefined, 'the answer before any delivery');
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
      await store.deliver(`${answer.id}/1`, 'chat', part, send, of);
    }
    expectSame(await store.answer('chat'), answers[1], 'the latest answer');
    expectSame(await store.answer('chat', 'q1'), answers[0], 'the answer by its question');
    expectSame(await store.answer('chat', '1'), answers[0], 'the answer by one of its parts');
    expectSame(await store.answer('chat', '7'), undefined, 'the answer to an unknown message');
    expectSame(await store.answer('other', '1'), undefined, 'the answer in another chat');
    await store.forget('chat');
    expectSame(await store.answer('chat'), undefined, 'the answer after deletion');
  }),
  the('give up', 'abandons only planned parts, permanently', async ({ store }) => {
    const { sent, send } = counter();
    const gone = { kind: 'invalid', code: 'chat_gone', message: 'gone' } as const;
    await expectError(store.deliver('key', 'chat', part, failing(down)), 'the attempt');
    expectSame(await store.giveUp('key', gone), true, 'the result of the first call');
    expectSame(await store.giveUp('key', gone), false, 'the result of the second call');
    const delivery = await store.deliver('key', 'chat', part, send);
    expectSame(delivery, { state: 'given_up', error: gone }, 'the next delivery');
    await store.deliver('other', 'chat', part, send);
    expectSame(await store.giveUp('other', gone), false, 'the result for a sent part');
    expectSame(await store.giveUp('none', gone), false, 'the result for an unknown part');
    expectSame([sent.length, await stateOf(store, 'other')], [1, 'sent'], 'the sent messages');
    await expectError(
      store.deliver('doubt', 'chat', part, failing(unsure)),
      'an attempt that may have arrived',
    );
    expectSame(await store.giveUp('doubt', gone), true, 'the result for a part that may have been sent');
    expectSame(await stateOf(store, 'doubt'), 'maybe_sent', 'its state');
  }),
  the('list', 'lists parts by state and chat, oldest first', async ({ store }) => {
    const { send } = counter();
    for (const [key, chatId] of Object.entries({ a: 'one', b: 'two', c: 'one' }))
      await store.deliver(key, chatId, part, send);
    await expectError(store.deliver('d', 'one', part, failing(down)), 'an attempt');
    const keys = async (filter: Parameters<Outbox['list']>[0]) =>
      (await store.list(filter)).map(({ key }) => key);
    expectSame(await keys({}), ['a', 'b', 'c', 'd'], 'all');
    expectSame(await keys({ state: 'sent', chatId: 'one' }), ['a', 'c'], 'the sent parts of one chat');
    expectSame(await keys({ state: 'planned' }), ['d'], 'planned');
    expectSame(await keys({ limit: 2 }), ['a', 'b'], 'two');
    const [entry] = await store.list();
    const expected = {
      ...{ key: 'a', chatId: 'one', piece: part, state: 'sent', attempts: 1, doubts: 0 },
      messageId: '1',
    };
    expectSame(entry, expected, 'an entry');
  }),
  the(
    'forget',
    'keeps an old part that a crashed process was sending, and its next attempt is a repeat [S3.5]',
    async ({ store, again, runtime }) => {
      const dead = hanging();
      void store.deliver('key', 'chat', part, dead.send).catch(() => {});
      await dead.started;
      const next = await again();
      await runtime.advance(600_000);
      expectSame(await next.prune(runtime.now()), 0, 'the number of pruned parts');
      const { tries, send } = counter();
      await next.deliver('key', 'chat', part, send);
      expectSame(tries, [{ isRepeat: true }], 'the attempts after the crash');
      await runtime.advance(1);
      expectSame(await next.prune(runtime.now()), 1, 'the number of pruned parts after the delivery');
    },
  ),
  the('forget', 'deletes the parts of a chat, and old parts of all chats', async ({ store, runtime }) => {
    const { send } = counter();
    await store.deliver('a', 'one', part, send);
    await store.deliver('b', 'two', part, send);
    expectSame(await store.forget('one'), 1, 'the number of deleted parts');
    await expectError(store.deliver('c', 'two', part, failing(down)), 'an attempt');
    await runtime.advance(1000);
    await store.deliver('d', 'two', part, send);
    expectSame(await store.prune(runtime.now()), 1, 'the number of pruned parts');
    const left = (await store.list()).map(({ key }) => key);
    expectSame(left, ['c', 'd'], 'the remaining parts');
  }),
];
