import { memoryStore } from '@cobbler/agent';
import { memoryRunner } from '@cobbler/agent/runner';
import { answered, eventsOf } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import { sessionWork } from '../../src/index.ts';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

/** Starts a server whose store has two responses, of which one has a price. */
async function withCosts() {
  const server = await rig();
  const times = ['2026-03-28T23:30:00.000Z', '2026-03-29T22:00:00.000Z'];
  const events = eventsOf('one', [answered('a', { model: 'a', usd: 0.5 }), answered('b', { model: 'b' })]);
  const epoch = await server.store.claim('one');
  const dated = events.map((event, index) => ({ ...event, time: times[index] ?? '' }));
  await server.store.append('one', dated, { epoch, release: true });
  return server;
}

describe('GET /v1/costs', () => {
  test('returns the costs by day, in a time zone and a period', async () => {
    const { ask } = await withCosts();
    const { status, json } = await ask('GET', '/v1/costs?timeZone=Europe/Berlin');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      items: [
        { key: '2026-03-29', requests: 1, usd: 0.5, unpriced: 0, first: '2026-03-28T23:30:00.000Z' },
        { key: '2026-03-30', requests: 1, usd: 0, unpriced: 1 },
      ],
      total: { requests: 2, usd: 0.5, unpriced: 1, inputTokens: 200, outputTokens: 40 },
    });
    const since = await ask('GET', '/v1/costs?by=model&since=2026-03-29T00:00:00Z');
    expect(since.json['items']).toMatchObject([{ key: 'b', unpriced: 1 }]);
    const until = await ask('GET', '/v1/costs?by=session&until=2026-03-29T00:00:00Z');
    expect(until.json['items']).toMatchObject([{ key: 'one', requests: 1 }]);
  });

  test('requires a token with the scope read, and a valid query', async () => {
    const { ask, tokens } = await withCosts();
    expect((await ask('GET', '/v1/costs', undefined, { authorization: 'Bearer nobody' })).status).toBe(401);
    const { token } = tokens.add({ name: 'narrow', scopes: [] });
    const narrow = await ask('GET', '/v1/costs', undefined, { authorization: `Bearer ${token}` });
    expect(narrow.status).toBe(403);
    for (const query of ['by=colour', 'since=monday', 'timeZone=Nowhere', 'colour=red'])
      expect((await ask('GET', `/v1/costs?${query}`)).status).toBe(400);
  });
});

/** Sends a prompt to a new session with a new token of this name. */
async function promptAs({ ask, tokens, idle }: Rig, name: string, sessionId: string, content: string) {
  const { token } = tokens.add({ name, scopes: ['prompt'] });
  const headers = { authorization: `Bearer ${token}` };
  await ask('POST', '/v1/sessions', { id: sessionId }, headers);
  expect((await ask('POST', `/v1/sessions/${sessionId}/prompt`, { content }, headers)).status).toBe(202);
  await idle(sessionId);
}

const usersOf = async ({ ask }: Rig) => {
  const { items } = (await ask('GET', '/v1/costs?by=user')).json as {
    items: { key: string; requests: number }[];
  };
  return items.map(({ key, requests }) => `${key} ${requests}`).sort();
};

describe('the user of a run', () => {
  test('is the name of its token, also after an approval with another token and a restart', async () => {
    const store = memoryStore();
    const before = await rig({ store });
    await promptAs(before, 'ann', 'one', 'use write');
    await promptAs(before, 'bob', 'two', 'say Hi.');
    await before.server.close();
    const after = await rig({ store });
    const request = (await store.read('one')).find((event) => event.type === 'approval_requested');
    if (request?.type !== 'approval_requested') throw new Error('No approval was requested.');
    const decision = { decision: 'allow', hash: request.hash };
    const path = `/v1/sessions/one/approvals/${request.approvalId}`;
    expect((await after.ask('POST', path, decision)).status).toBe(202);
    await after.idle('one');
    expect(await usersOf(after)).toEqual(['ann 2', 'bob 1']);
  });

  test('is the name of its token if a runner executes it', async () => {
    const store = memoryStore();
    const runner = memoryRunner({ workflow: sessionWork(store, () => harnessFixture()) });
    const server = await rig({ store, elsewhere: { runner } });
    await promptAs(server, 'ann', 'one', 'use look');
    expect(await usersOf(server)).toEqual(['ann 2']);
    await runner.close();
  });

  test('is the one of the settings if they name one', async () => {
    const server = await rig({ settings: () => ({ ...harnessFixture(), user: 'eve' }) });
    await promptAs(server, 'ann', 'one', 'say Hi.');
    expect(await usersOf(server)).toEqual(['eve 1']);
  });
});
