import type { ContractCase } from '@cobbler/agent/testing';
import type { ChatStore } from '../storage/chat-store.ts';
import type { PlaceCase, PlaceSubject } from './place.ts';
import { expectSame, expectThat, placeCases } from './place.ts';

/** The requirements of every chat store, as a list of cases for any test runner. */
export function chatStoreContract(subject: PlaceSubject<ChatStore>): ContractCase[] {
  return placeCases(definitions, subject);
}

const the = (group: string, name: string, run: PlaceCase<ChatStore>['run']) => ({ group, name, run });

/** Some moment, in milliseconds since 1970. */
const start = 1_767_312_000_000;

const definitions: readonly PlaceCase<ChatStore>[] = [
  the('settings', 'a chat that nothing was set for has its id alone', async ({ store }) => {
    expectSame(await store.get('chat'), { chatId: 'chat' }, 'the chat');
    expectSame(await store.running('chat'), undefined, 'its turn');
  }),
  the('settings', 'a time zone is kept, changed and taken back', async ({ store, again }) => {
    await store.setTimeZone('chat', 'Europe/Berlin');
    await store.setRun('chat', 'run');
    await store.setTimeZone('chat', 'Asia/Tokyo');
    const expected = { chatId: 'chat', timeZone: 'Asia/Tokyo', runId: 'run' };
    expectSame(await (await again()).get('chat'), expected, 'the chat in another life');
    expectSame(await store.get('other'), { chatId: 'other' }, 'another chat');
    await store.setTimeZone('chat', null);
    expectSame(await store.get('chat'), { chatId: 'chat', runId: 'run' }, 'the chat');
  }),
  the('run', 'the turn under way is known, and ends', async ({ store, again }) => {
    expectSame(await store.setRun('chat', 'one'), true, 'whether it was set');
    expectSame(await (await again()).running('chat'), 'one', 'the turn');
    expectSame(await store.setRun('chat', null), true, 'whether it was ended');
    expectSame(await store.running('chat'), undefined, 'the turn');
  }),
  the('run', 'an old turn that ends late leaves the newer one alone', async ({ store }) => {
    await store.setRun('chat', 'old');
    await store.setRun('chat', 'new');
    expectSame(await store.setRun('chat', null, 'old'), false, 'whether the old one ended anything');
    expectSame(await store.running('chat'), 'new', 'the turn');
    expectSame(await store.setRun('chat', null, 'new'), true, 'whether the new one ended');
    expectSame(await store.setRun('empty', null, 'new'), false, 'whether it ended in another chat');
  }),
  the('rate', 'so many turns are let and the next is not, until one is old enough', async ({ store }) => {
    const limit = { count: 3, perMs: 1000 };
    for (const at of [0, 100, 200])
      expectSame(await store.takeTurn('ann', start + at, limit), { ok: true }, `the turn at ${at}`);
    const refused = { ok: false, waitMs: 700, first: true };
    expectSame(await store.takeTurn('ann', start + 300, limit), refused, 'the fourth turn');
    const again = { ok: false, waitMs: 1, first: false };
    expectSame(await store.takeTurn('ann', start + 999, limit), again, 'one a moment too early');
    expectSame(await store.takeTurn('ann', start + 1000, limit), { ok: true }, 'one in time');
    const next = { ok: false, waitMs: 100, first: true };
    expectSame(await store.takeTurn('ann', start + 1000, limit), next, 'the one after it');
  }),
  the('rate', 'a refusal is the first again after a turn that was let', async ({ store }) => {
    const limit = { count: 1, perMs: 10 };
    const firsts: (boolean | undefined)[] = [];
    for (const at of [0, 1, 2, 10, 11, 12]) {
      const turn = await store.takeTurn('ann', start + at, limit);
      firsts.push(turn.ok ? undefined : turn.first);
    }
    expectSame(firsts, [undefined, true, false, undefined, true, false], 'what was the first refusal');
  }),
  the('rate', 'people do not count against each other', async ({ store }) => {
    const limit = { count: 1, perMs: 1000 };
    for (const user of ['ann', 'ben', 'cy'])
      expectSame(await store.takeTurn(user, start, limit), { ok: true }, user);
  }),
  the('rate', 'however many ask at once, no more than so many are let', async ({ store, again }) => {
    const stores = [store, await again(), await again()];
    const asked = Array.from({ length: 30 }, (_, index) => stores[index % 3] ?? store);
    const turns = await Promise.all(
      asked.map((one) => one.takeTurn('ann', start, { count: 7, perMs: 1000 })),
    );
    expectSame(turns.filter(({ ok }) => ok).length, 7, 'how many were let');
    expectSame(turns.filter((turn) => !turn.ok && turn.first).length, 1, 'how many were refused first');
  }),
  the('rate', 'a clock that was put back locks nobody out for longer', async ({ store }) => {
    const limit = { count: 1, perMs: 1000 };
    await store.takeTurn('ann', start + 50_000, limit);
    expectSame(await store.takeTurn('ann', start, limit), { ok: true }, 'the turn after it was put back');
    const turn = await store.takeTurn('ann', start - 10, limit);
    expectThat(!turn.ok && turn.waitMs <= 1000, 'a wait of a second at most');
  }),
  the('rate', 'a limit that was lowered holds at once', async ({ store }) => {
    for (const at of [0, 10, 20, 30]) await store.takeTurn('ann', start + at, { count: 9, perMs: 1000 });
    const refused = { ok: false, waitMs: 980, first: true };
    expectSame(await store.takeTurn('ann', start + 40, { count: 2, perMs: 1000 }), refused, 'the next turn');
  }),
  the('forget', 'what was set is gone, and counted turns are not', async ({ store }) => {
    await store.setTimeZone('chat', 'Asia/Tokyo');
    await store.setRun('chat', 'run');
    await store.setRun('other', 'run');
    await store.takeTurn('chat', start, { count: 1, perMs: 1000 });
    await store.forget('chat');
    expectSame(await store.get('chat'), { chatId: 'chat' }, 'the chat');
    expectSame(await store.running('other'), 'run', 'another chat');
    expectThat(!(await store.takeTurn('chat', start, { count: 1, perMs: 1000 })).ok, 'the limit to hold');
  }),
];
