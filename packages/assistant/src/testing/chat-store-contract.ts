import type { Json } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import type { ChatStore } from '../storage/chat-store.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectSame, expectThat, placeCases } from './place.ts';

/** Returns the requirements of every chat store as test cases for any test runner. */
export function chatStoreContract(subject: PlaceSubject<ChatStore>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<ChatStore>['run']) => ({ group, name, run });

/** A time in milliseconds since 1970. */
const start = 1_767_312_000_000;

const definitions: readonly PlaceCase<ChatStore>[] = [
  the('settings', 'returns only the id of a chat without settings', async ({ store }) => {
    expectSame(await store.get('chat'), { chatId: 'chat' }, 'the chat');
    expectSame(await store.running('chat'), undefined, 'its turn');
  }),
  the('settings', 'stores, changes and removes a time zone', async ({ store, again }) => {
    await store.setTimeZone('chat', 'Europe/Berlin');
    await store.setRun('chat', 'run');
    await store.setTimeZone('chat', 'Asia/Tokyo');
    const expected = { chatId: 'chat', timeZone: 'Asia/Tokyo', runId: 'run' };
    expectSame(await (await again()).get('chat'), expected, 'the chat after reopening');
    expectSame(await store.get('other'), { chatId: 'other' }, 'another chat');
    await store.setTimeZone('chat', null);
    expectSame(await store.get('chat'), { chatId: 'chat', runId: 'run' }, 'the chat');
  }),
  the('run', 'stores and clears the active turn', async ({ store, again }) => {
    expectSame(await store.setRun('chat', 'one'), true, 'the result of setting');
    expectSame(await (await again()).running('chat'), 'one', 'the turn');
    expectSame(await store.setRun('chat', null), true, 'the result of clearing');
    expectSame(await store.running('chat'), undefined, 'the turn');
  }),
  the('run', 'keeps a newer turn if an old one ends late', async ({ store }) => {
    await store.setRun('chat', 'old');
    await store.setRun('chat', 'new');
    expectSame(await store.setRun('chat', null, 'old'), false, 'the result for the old turn');
    expectSame(await store.running('chat'), 'new', 'the turn');
    expectSame(await store.setRun('chat', null, 'new'), true, 'the result for the new turn');
    expectSame(await store.setRun('empty', null, 'new'), false, 'the result for another chat');
  }),
  the('note', 'keeps the first value of a key, also after reopening', async ({ store, again }) => {
    const note = (key: string, value: Json) => store.note({ key, chatId: 'chat', value, now: start });
    expectSame(await store.noted('run/a'), undefined, 'a note that was not made');
    expectSame(await note('run/a', { one: [1, null] }), { one: [1, null] }, 'the first value');
    expectSame(await note('run/a', 2), { one: [1, null] }, 'the kept value');
    expectSame(await note('run/b', null), null, 'the value of another key');
    expectSame(await (await again()).noted('run/a'), { one: [1, null] }, 'the note after reopening');
  }),
  the('note', 'deletes the notes of a chat, and those that are old', async ({ store }) => {
    const note = (key: string, chatId: string, now: number) => store.note({ key, chatId, value: 1, now });
    await note('old', 'chat', start);
    await note('other', 'other', start + 40 * 86_400_000);
    expectSame(await store.noted('old'), undefined, 'a note of forty days ago');
    await note('mine', 'chat', start + 40 * 86_400_000);
    await store.forget('chat');
    expectSame(await store.noted('mine'), undefined, 'a note of the chat');
    expectSame(await store.noted('other'), 1, 'a note of another chat');
  }),
  the('rate', 'allows a number of turns and refuses the next until one has expired', async ({ store }) => {
    const limit = { count: 3, perMs: 1000 };
    for (const at of [0, 100, 200])
      expectSame(await store.takeTurn('ann', start + at, limit), { ok: true }, `the turn at ${at}`);
    const refused = { ok: false, waitMs: 700, first: true };
    expectSame(await store.takeTurn('ann', start + 300, limit), refused, 'the fourth turn');
    const again = { ok: false, waitMs: 1, first: false };
    expectSame(await store.takeTurn('ann', start + 999, limit), again, 'a turn one millisecond too early');
    expectSame(await store.takeTurn('ann', start + 1000, limit), { ok: true }, 'a turn in time');
    const next = { ok: false, waitMs: 100, first: true };
    expectSame(await store.takeTurn('ann', start + 1000, limit), next, 'the turn after it');
  }),
  the('rate', 'marks the first refusal after each allowed turn', async ({ store }) => {
    const limit = { count: 1, perMs: 10 };
    const firsts: (boolean | undefined)[] = [];
    for (const at of [0, 1, 2, 10, 11, 12]) {
      const turn = await store.takeTurn('ann', start + at, limit);
      firsts.push(turn.ok ? undefined : turn.first);
    }
    expectSame(firsts, [undefined, true, false, undefined, true, false], 'the first refusals');
  }),
  the('rate', 'counts each user separately', async ({ store }) => {
    const limit = { count: 1, perMs: 1000 };
    for (const user of ['ann', 'ben', 'cy'])
      expectSame(await store.takeTurn(user, start, limit), { ok: true }, user);
  }),
  the('rate', 'never exceeds the limit for concurrent calls', async ({ store, again }) => {
    const stores = [store, await again(), await again()];
    const asked = Array.from({ length: 30 }, (_, index) => stores[index % 3] ?? store);
    const turns = await Promise.all(
      asked.map((one) => one.takeTurn('ann', start, { count: 7, perMs: 1000 })),
    );
    expectSame(turns.filter(({ ok }) => ok).length, 7, 'the number of allowed turns');
    expectSame(turns.filter((turn) => !turn.ok && turn.first).length, 1, 'the number of first refusals');
  }),
  the('rate', 'does not extend a wait after the clock was set back', async ({ store }) => {
    const limit = { count: 1, perMs: 1000 };
    await store.takeTurn('ann', start + 50_000, limit);
    expectSame(
      await store.takeTurn('ann', start, limit),
      { ok: true },
      'the turn after the clock was set back',
    );
    const turn = await store.takeTurn('ann', start - 10, limit);
    expectThat(!turn.ok && turn.waitMs <= 1000, 'a wait of at most one second');
  }),
  the('rate', 'applies a lowered limit immediately', async ({ store }) => {
    for (const at of [0, 10, 20, 30]) await store.takeTurn('ann', start + at, { count: 9, perMs: 1000 });
    const refused = { ok: false, waitMs: 980, first: true };
    expectSame(await store.takeTurn('ann', start + 40, { count: 2, perMs: 1000 }), refused, 'the next turn');
  }),
  the('forget', 'deletes settings but not counted turns', async ({ store }) => {
    await store.setTimeZone('chat', 'Asia/Tokyo');
    await store.setRun('chat', 'run');
    await store.setRun('other', 'run');
    await store.takeTurn('chat', start, { count: 1, perMs: 1000 });
    await store.forget('chat');
    expectSame(await store.get('chat'), { chatId: 'chat' }, 'the chat');
    expectSame(await store.running('other'), 'run', 'another chat');
    expectThat(!(await store.takeTurn('chat', start, { count: 1, perMs: 1000 })).ok, 'a refused turn');
  }),
];
