import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent, SessionInfo, SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { wholeRun, write } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import { defaultLimits, TokenStore } from '../../src/index.ts';
import { RunSubscription } from '../../src/sessions/run-subscription.ts';
import { SessionService } from '../../src/sessions/session-service.ts';
import { TokenBudgets } from '../../src/sessions/token-budgets.ts';
import { Logger } from '../../src/telemetry/logger.ts';
import { Meters } from '../../src/telemetry/meters.ts';
import { guest, idsIn, startSession } from '../support/guest.ts';
import { rig } from '../support/rig.ts';

function serviceOf(store: SessionStore): SessionService {
  return new SessionService({
    store,
    settings: () => harnessFixture(),
    limits: defaultLimits,
    budgets: new TokenBudgets(undefined, () => 0),
    tokens: new TokenStore(),
    logger: new Logger(() => undefined),
    meters: new Meters(),
    onCreate: () => undefined,
    onEvent: () => undefined,
  });
}

describe('a session', () => {
  test('of an earlier version, whose store names no user, belongs to the user of its first event', async () => {
    const store = memoryStore();
    const before = await rig({ store });
    await startSession(before, guest(before, 'ann'), 's');
    const firstReads: string[] = [];
    const withoutUser = (info: SessionInfo): SessionInfo => ({ ...info, user: undefined }) as never;
    const one = await rig({
      store: {
        ...store,
        info: async (id) => {
          const info = await store.info(id);
          return info && withoutUser(info);
        },
        list: async (options) => {
          const page = await store.list(options);
          return { ...page, sessions: page.sessions.map(withoutUser) };
        },
        read: async (id, after = 0, limit = undefined) => {
          if (limit === 1) firstReads.push(id);
          return await store.read(id, after, limit);
        },
      },
    });
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    for (const path of ['s', 's/messages'])
      expect((await ann.ask('GET', `/v1/sessions/${path}`)).status).toBe(200);
    expect(idsIn(await ann.ask('GET', '/v1/sessions'))).toEqual(['s']);
    expect((await ann.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
    expect(idsIn(await eve.ask('GET', '/v1/sessions'))).toEqual([]);
    expect((await eve.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(409);
    expect(firstReads).toEqual(['s']);
    const stream = await one.watch('/v1/sessions/s/events', ann.headers);
    await stream.until(({ json }) => json['type'] === 'finished');
    // An admin who uses it does not change to whom it belongs.
    expect((await one.ask('GET', '/v1/sessions/s')).status).toBe(200);
    const prompt = { content: 'use write' };
    expect((await ann.ask('POST', '/v1/sessions/s/prompt', prompt)).status).toBe(202);
    await stream.until(({ json }) => json['type'] === 'approval_requested');
    await one.idle('s');
    expect(idsIn(await ann.ask('GET', '/v1/approvals'), 'sessionId')).toEqual(['s']);
    expect(idsIn(await eve.ask('GET', '/v1/approvals'), 'sessionId')).toEqual([]);
  });

  test('is not created by a token that only reads', async () => {
    const one = await rig();
    const reader = guest(one, 'eve', ['read']);
    const statusOfEvents = async () => (await one.watch('/events', reader.headers)).headers['status'];
    expect(await statusOfEvents()).toBe('404');
    expect((await guest(one, 'ann').ask('POST', '/prompt', { content: 'say Hi.' })).status).toBe(200);
    expect(await statusOfEvents()).toBe('404');
  });

  test('belongs to all tokens of its user, and admins can use it', async () => {
    const one = await rig();
    const [laptop, phone] = [guest(one, 'ann'), guest(one, 'ann')];
    await startSession(one, laptop, 's');
    for (const user of [phone, guest(one, 'root', ['admin'])])
      expect((await user.ask('GET', '/v1/sessions/s/messages')).status).toBe(200);
    // Another user who continues it does not become its owner.
    expect((await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' })).status).toBe(202);
    await one.idle('s');
    expect((await phone.ask('DELETE', '/v1/sessions/s')).status).toBe(204);
    expect((await one.ask('GET', '/v1/sessions/s')).status).toBe(404);
  });

  test('without a user is only for admins', async () => {
    const one = await rig();
    await write(one.store, 'old', wholeRun());
    const ann = guest(one, 'ann');
    expect((await one.ask('GET', '/v1/sessions/old')).status).toBe(200);
    expect((await ann.ask('GET', '/v1/sessions/old')).status).toBe(404);
    expect(idsIn(await ann.ask('GET', '/v1/sessions'))).toEqual([]);
  });

  test('belongs to the user who forked it', async () => {
    const one = await rig();
    const ann = guest(one, 'ann');
    await startSession(one, ann, 's');
    const mine = await ann.ask('POST', '/v1/sessions/s/fork');
    const other = await one.ask('POST', '/v1/sessions/s/fork');
    expect([mine.json['user'], other.json['user']]).toEqual(['ann', 'owner']);
    expect((await ann.ask('GET', `/v1/sessions/${mine.json['id']}`)).status).toBe(200);
    expect((await ann.ask('GET', `/v1/sessions/${other.json['id']}`)).status).toBe(404);
  });

  test('belongs to its user after a restart, and an empty one to the user who creates it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-access-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const open = () => sqliteStore(join(folder, 'server.db'));
    const store = open();
    const before = await rig({ store });
    const ann = guest(before, 'ann');
    await startSession(before, ann, 's');
    await ann.ask('POST', '/v1/sessions', { id: 'empty' });
    expect((await ann.ask('PATCH', '/v1/sessions/empty', { title: 'Secret' })).status).toBe(200);
    expect(idsIn(await ann.ask('GET', '/v1/sessions')).sort()).toEqual(['empty', 's']);
    await before.server.close();
    await store.close();
    const later = open();
    onTestFinished(() => later.close());
    const after = await rig({ store: later, tokens: before.tokens });
    expect((await after.ask('GET', '/v1/sessions/s', undefined, ann.headers)).status).toBe(200);
    const eve = guest(after, 'eve');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
    expect((await eve.ask('GET', '/v1/sessions/empty')).status).toBe(404);
    const reader = guest(after, 'eve', ['read']);
    expect((await reader.ask('GET', '/v1/sessions/empty')).status).toBe(404);
    expect((await eve.ask('POST', '/v1/sessions', { id: 'empty' })).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/empty')).json).toMatchObject({ id: 'empty', title: '' });
    expect((await after.ask('GET', '/v1/sessions/empty', undefined, ann.headers)).status).toBe(404);
  });

  test('that two users create in two servers belongs to the one who starts it, and streams to no other', async () => {
    const store = memoryStore();
    const first = await rig({ store });
    const second = await rig({ store, limits: { othersMs: 20 } });
    const [ann, eve] = [guest(first, 'ann'), guest(second, 'eve')];
    expect((await eve.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(201);
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'hello');
    await startSession(first, ann, 's', 'say Secret.');
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
  });

  test('that another server has started is not open to who created it here', async () => {
    const store = memoryStore();
    const first = await rig({ store });
    const second = await rig({ store });
    const [ann, eve] = [guest(first, 'ann'), guest(second, 'eve')];
    expect((await eve.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(201);
    await startSession(first, ann, 's');
    expect((await eve.ask('GET', '/v1/sessions/s/messages')).status).toBe(404);
  });

  test('that another process deletes, and another user creates again, streams to no earlier client', async () => {
    const store = memoryStore();
    const first = await rig({ store });
    const second = await rig({ store, limits: { othersMs: 20 } });
    const [ann, eve] = [guest(first, 'ann'), guest(second, 'eve')];
    await startSession(second, eve, 's');
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'finished');
    await store.delete('s');
    await startSession(first, ann, 's');
    expect((await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'say Secret.' })).status).toBe(202);
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });

  test('that another user starts ends the stream of a token that has just expired', async () => {
    let now = Date.now();
    const tokens = new TokenStore(undefined, () => now);
    const store = memoryStore();
    const first = await rig({ store });
    const second = await rig({ store, tokens, limits: { othersMs: 20 } });
    const { token } = tokens.add({ name: 'eve', scopes: ['read', 'prompt'], expiresInMs: 60_000 });
    const headers = { authorization: `Bearer ${token}` };
    expect((await second.ask('POST', '/v1/sessions', { id: 's' }, headers)).status).toBe(201);
    const stream = await second.watch('/v1/sessions/s/events', headers);
    await stream.until(({ json }) => json['type'] === 'hello');
    now += 60_001;
    await startSession(first, guest(first, 'ann'), 's', 'say Secret.');
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });

  test('that another user starts ends the subscriptions to it', async () => {
    const store = memoryStore();
    const service = serviceOf(store);
    const eve = new TokenStore().add({ name: 'eve', scopes: ['prompt'] });
    const session = await service.openOrCreate('s', eve, 'prompt');
    session.broadcast.begin(0);
    const subscription = new RunSubscription(session, eve);
    await write(
      store,
      's',
      wholeRun().map((event) => ({ ...event, user: 'ann' })),
    );
    await session.publishOthers();
    const events: RunEvent[] = [];
    for await (const event of subscription) events.push(event);
    expect(events).toEqual([]);
  });

  test('that another user starts while a client opens its stream is not sent to this client', async () => {
    const store = memoryStore();
    const opened = Promise.withResolvers<void>();
    const slow = {
      ...store,
      read: async (...given: Parameters<SessionStore['read']>) => {
        await opened.promise;
        return await store.read(...given);
      },
    };
    const first = await rig({ store });
    const second = await rig({ store: slow });
    const [ann, eve] = [guest(first, 'ann'), guest(second, 'eve')];
    expect((await eve.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(201);
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'hello');
    await startSession(first, ann, 's', 'say Secret.');
    opened.resolve();
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });

  test('that is empty is not displaced by those of other users', async () => {
    const service = serviceOf(memoryStore());
    const [ann, eve] = ['ann', 'eve'].map((name) => new TokenStore().add({ name, scopes: ['prompt'] }));
    await service.create('a', ann);
    for (let count = 0; count <= 10_000; count += 1) await service.create(`e-${count}`, eve);
    expect((await service.session('a', ann, 'prompt')).id).toBe('a');
    await expect(service.session('e-0', eve, 'prompt')).rejects.toThrow('There is no session');
  });
});
