import { answered, eventsOf } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
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
