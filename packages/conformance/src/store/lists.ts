import type { SessionInfo, SessionStore } from '@cobbler/agent';
import {
  answered,
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  wholeRun,
  worked,
  write,
} from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type { StoreCase } from './case.ts';
import { group, reopening } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('list');
const afterReopening = reopening('list');

/** Returns the ids of all pages and the number of pages. */
async function pages(store: SessionStore, limit: number): Promise<{ ids: string[]; count: number }> {
  const ids: string[] = [];
  let after: string | undefined;
  for (let count = 1; ; count += 1) {
    const page = await store.list({ limit, ...defined({ after }) });
    expect(
      page.sessions.length <= limit,
      `at most ${limit} sessions on a page, found ${page.sessions.length}`,
    );
    ids.push(...page.sessions.map(({ id }) => id));
    after = page.next;
    if (after === undefined) return { ids, count };
    expect(count < 1000, 'an end of the list');
  }
}

async function infoOf(store: SessionStore, id: string): Promise<SessionInfo> {
  const info = await store.info(id);
  if (info === undefined) throw new Error(`There is no session ${id}.`);
  return info;
}

export const listCases: readonly StoreCase[] = [
  the(
    'the list starts with the last changed session, and its pages have no gaps or duplicates',
    async ({ store, pass }) => {
      const ids = Array.from({ length: 23 }, (_, index) => `session-${index}`);
      for (const id of ids) {
        // Some sessions change at the same moment.
        if (!id.endsWith('3')) pass(1000);
        await write(store, id, wholeRun());
      }
      pass(1000);
      await write(store, 'session-4', wholeRun('Again.'));
      const expected = ['session-4', ...ids.toReversed().filter((id) => id !== 'session-4')];
      for (const limit of [1, 2, 5, 22, 23, 24, 1000]) {
        const { ids: found, count } = await pages(store, limit);
        expectEqual(found, expected, `the sessions in pages of ${limit}`);
        expectEqual(count, Math.ceil(23 / limit), `the number of pages of ${limit}`);
      }
      expectEqual(await store.sessions(), ids, 'all ids, oldest first');
    },
  ),
  the('a session deleted between two pages does not remove others from the list', async ({ store, pass }) => {
    for (let index = 0; index < 9; index += 1) {
      pass(10);
      await write(store, `session-${index}`, wholeRun());
    }
    const { sessions, next = '' } = await store.list({ limit: 3 });
    await store.delete(sessions[2]?.id ?? '');
    const rest = await store.list({ limit: 100, after: next });
    expectEqual(
      rest.sessions.map(({ id }) => id),
      [5, 4, 3, 2, 1, 0].map((n) => `session-${n}`),
      'the next page',
    );
  }),
  the('an unknown cursor is rejected', async ({ store }) => {
    for (const after of ['', 'x', '1', '1.', '.1', '1.2.3', '-1.2', "1.2'", '9'.repeat(40)])
      await expectRefused(() => store.list({ after }), 'cursor', `the list after ${JSON.stringify(after)}`);
  }),
  the('invalid page sizes are replaced with valid ones', async ({ store }) => {
    for (let index = 0; index < 3; index += 1) await write(store, `session-${index}`, wholeRun());
    for (const [limit, size] of [
      [0, 1],
      [-5, 1],
      [Number.NaN, 1],
      [2.9, 2],
      [Number.POSITIVE_INFINITY, 3],
    ] as const)
      expectEqual((await store.list({ limit })).sessions.length, size, `the size of a page of ${limit}`);
  }),
  the('the usage of a session is counted', async ({ store, pass }) => {
    const epoch = await store.claim('one');
    const paid = { usd: 0.25, model: 'small-1' };
    const bodies = [
      said('Go.'),
      ...worked(1),
      ...worked(2),
      answered('Half.', paid),
      said('On.'),
      answered('Done.'),
    ];
    const first = eventsOf('one', [...bodies, ended('max_tokens')]);
    await store.append('one', first.slice(0, 5), { epoch });
    const { createdAt, updatedAt, ...running } = await infoOf(store, 'one');
    expectEqual(createdAt, updatedAt, 'the time of the last change');
    expectEqual(
      [running.status, running.events, running.toolCalls],
      ['running', 5, 1],
      'the session during the run',
    );
    pass(5000);
    await store.append('one', first.slice(5), { epoch });
    const { createdAt: created, updatedAt: updated, ...info } = await infoOf(store, 'one');
    expectEqual(timeOfDay(updated) - timeOfDay(created), 5000, 'the time between creation and last change');
    expectEqual(
      info,
      {
        id: 'one',
        title: 'Go.',
        status: 'max_tokens',
        model: 'puppet-model',
        events: first.length,
        prompts: 2,
        answers: 4,
        toolCalls: 2,
        inputTokens: 400,
        outputTokens: 80,
      },
      'the session after the run',
    );
  }),
  the('costs are added up, and are unknown if one price is unknown', async ({ store }) => {
    await write(store, 'one', [said('a'), answered('b', { usd: 0.5 }), answered('c', { usd: 0.25 })]);
    expectEqual((await infoOf(store, 'one')).usd, 0.75, 'the cost');
    await write(store, 'one', [said('d'), answered('e'), answered('f', { usd: 1 }), ended()]);
    expectEqual((await infoOf(store, 'one')).usd, undefined, 'the cost with an unknown price');
    await write(store, 'free', [said('a')]);
    expectEqual((await infoOf(store, 'free')).usd, 0, 'the cost of a session without requests');
  }),
  the('a session belongs to the user of its first event', async ({ store }) => {
    const events = eventsOf('one', wholeRun()).map((event, index) => {
      return { ...event, user: index === 0 ? 'ann' : 'bob' };
    });
    const epoch = await store.claim('one');
    await store.append('one', events.slice(0, 1), { epoch });
    await store.append('one', events.slice(1), { epoch });
    await write(store, 'two', [said('Go.')]);
    const { sessions } = await store.list();
    expectEqual(
      sessions.map(({ id, user }) => `${id} ${user}`).sort(),
      ['one ann', 'two undefined'],
      'the users in the list',
    );
    expectEqual((await store.info('one'))?.user, 'ann', 'the user');
  }),
  the('each run sets the status of the session', async ({ store }) => {
    for (const status of ['failed', 'cancelled', 'waiting', 'complete'] as const) {
      const epoch = await write(store, 'one', [said('Go.')]);
      expectEqual((await infoOf(store, 'one')).status, 'running', `the status before ${status}`);
      const last = await store.read('one');
      await store.append('one', eventsOf('one', [ended(status)], last.length), { epoch });
      expectEqual((await infoOf(store, 'one')).status, status, 'the status');
    }
  }),
  the('the title is the first prompt in one line, unless the session is renamed', async ({ store }) => {
    await write(store, 'one', [said('  Find\n\tthe \u0000 bug.  '), said('Another.'), ended()]);
    const title = async () => (await infoOf(store, 'one')).title;
    expectEqual(await title(), 'Find the bug.', 'the title');
    expectEqual(await store.rename('one', '  The\u0007 bug 🐛 '), true, 'whether the session was renamed');
    expectEqual(await title(), 'The bug 🐛', 'the title after the rename');
    await write(store, 'one', [said('More.'), ended()]);
    expectEqual(await title(), 'The bug 🐛', 'the title after another run');
    expectEqual(await store.rename('one', ' \n '), true, 'whether the title was reset');
    expectEqual(await title(), 'Find the bug.', 'the title after the reset');
    expectEqual(await store.rename('two', 'x'), false, 'whether an unknown session was renamed');
    await write(store, 'long', [said('🙂'.repeat(5000))]);
    expectEqual((await infoOf(store, 'long')).title, `${'🙂'.repeat(79)}…`, 'a long title');
    await write(store, 'picture', [
      { type: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] },
      said('What is it?'),
    ]);
    expectEqual((await infoOf(store, 'picture')).title, 'What is it?', 'the title if an image comes first');
  }),
  the('an empty store contains nothing', async ({ store }) => {
    expectEqual(await store.list(), { sessions: [] }, 'the list');
    expectEqual(await store.sessions(), [], 'the ids');
    expectEqual(await store.info('one'), undefined, 'a session');
    expectEqual(await store.prune({ keepLast: 0 }), [], 'the pruned sessions');
    expectEqual(await store.vacuum(), 0, 'the bytes freed');
  }),
  afterReopening('sessions, titles and counts are kept after a reopen', async (setup) => {
    await write(setup.store, 'one', wholeRun('First.', 30));
    await write(setup.store, 'two', [said('Second.'), ...worked(1)]);
    setup.pass(1000);
    await write(setup.store, 'three', wholeRun('Third.', 100));
    await setup.store.rename('one', 'Uno');
    const before = await setup.store.list();
    const events = await Promise.all(before.sessions.map(({ id }) => setup.store.read(id)));
    await setup.reopen();
    const after = await setup.store.list();
    // The process that ran it no longer exists.
    const interrupted = before.sessions.map((info) =>
      info.id === 'two' ? { ...info, status: 'interrupted' } : info,
    );
    expectEqual(after.sessions, interrupted, 'the list');
    expectEqual(
      await Promise.all(after.sessions.map(({ id }) => setup.store.read(id))),
      events,
      'the events',
    );
  }),
];

/** Returns the milliseconds since midnight of an ISO time. */
function timeOfDay(iso: string): number {
  const [, h = '', m = '', s = ''] = /T(\d+):(\d+):([\d.]+)Z$/.exec(iso) ?? [];
  return Math.round(((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000);
}
