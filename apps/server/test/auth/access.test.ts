import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent, SessionInfo, SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { wholeRun, write } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../src/index.ts';
import { defaultLimits, TokenStore } from '../../src/index.ts';
import { RunSubscription } from '../../src/sessions/run-subscription.ts';
import { SessionService } from '../../src/sessions/session-service.ts';
import { TokenBudgets } from '../../src/sessions/token-budgets.ts';
import { Logger } from '../../src/telemetry/logger.ts';
import { Meters } from '../../src/telemetry/meters.ts';
import type { Answered, Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';

/** A server as one user sees it. */
interface Guest {
  readonly headers: Record<string, string>;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
}

function guest(
  { tokens, ask }: Rig,
  name: string,
  scopes: readonly Scope[] = ['read', 'prompt', 'approve'],
): Guest {
  const headers = { authorization: `Bearer ${tokens.add({ name, scopes }).token}` };
  return {
    headers,
    ask: (method, path, body, more = {}) => ask(method, path, body, { ...headers, ...more }),
  };
}

/** Creates a session of a user and sends a prompt to it. */
async function begun(one: Rig, user: Guest, id: string, content = 'say Hi.'): Promise<void> {
  expect((await user.ask('POST', '/v1/sessions', { id })).status).toBe(201);
  expect((await user.ask('POST', `/v1/sessions/${id}/prompt`, { content })).status).toBe(202);
  await one.idle(id);
}

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

const idsIn = ({ json }: Answered, name = 'id') =>
  (json['items'] as Record<string, unknown>[]).map((item) => item[name]);

/** A valid body for each route with a session that needs one. A new route that needs one has to be added here. */
const bodies: Readonly<Record<string, unknown>> = {
  'PATCH /v1/sessions/{sessionId}': { title: 'Mine' },
  'POST /v1/sessions/{sessionId}/prompt': { content: 'say Hi.' },
  'POST /v1/sessions/{sessionId}/steer': { content: 'Stop.' },
  'POST /v1/sessions/{sessionId}/chat': {
    messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'say Hi.' }] }],
  },
  'POST /v1/sessions/{sessionId}/approvals/{approvalId}': { decision: 'deny' },
};

/** What a client can distinguish: everything but the id and what differs in each response. */
function visible({ status, headers, text }: Answered, id: string): unknown {
  const rest = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return [status, rest, text.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/, '')];
}

describe('a session of another user [P15]', () => {
  test('is answered like one that does not exist, by every route and method', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await begun(one, ann, 'known-1', 'use write');
    const [approvalId] = idsIn(await ann.ask('GET', '/v1/approvals'), 'approvalId');
    const before = await one.store.read('known-1');
    const { paths } = (await one.ask('GET', '/openapi.json')).json as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      path.includes('{sessionId}')
        ? Object.keys(methods).map((method) => [method.toUpperCase(), path] as const)
        : [],
    );
    expect(routes.length).toBeGreaterThan(14);
    for (const [method, path] of routes) {
      const name = `${method} ${path}`;
      const answerTo = async (id: string) => {
        const url = path.replace('{sessionId}', id).replace('{approvalId}', String(approvalId));
        return visible(await eve.ask(method, url, bodies[name]), id);
      };
      const answer = await answerTo('known-1');
      expect([name, answer]).toEqual([name, await answerTo('other-1')]);
      expect([name, answer]).toEqual([name, [404, expect.anything(), expect.stringContaining('no_session')]]);
    }
    expect(await one.store.read('known-1')).toEqual(before);
    expect((await ann.ask('GET', '/v1/sessions/known-1')).json).toMatchObject({
      ...{ status: 'waiting', title: 'use write', user: 'ann' },
    });
  });

  test('is answered like one that does not exist, by the routes that name it elsewhere', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await begun(one, ann, 'known-1', 'use write');
    const [approvalId] = idsIn(await ann.ask('GET', '/v1/approvals'), 'approvalId');
    const asks: ((id: string) => Promise<Answered>)[] = [
      (id) => eve.ask('GET', `/v1/approvals?session=${id}`),
      (id) => {
        const resume = [{ interruptId: `${approvalId}.x`, status: 'cancelled' }];
        return eve.ask('POST', '/v1/ag-ui', { threadId: id, runId: 'r', messages: [], resume });
      },
      (id) => {
        const body = { model: 'cobbler', input: 'say Hi.', previous_response_id: `resp_1_${id}` };
        return eve.ask('POST', '/openai/v1/responses', body);
      },
    ];
    const answers: unknown[] = [];
    for (const ask of asks) {
      const answer = await ask('known-1');
      expect(visible(answer, 'known-1')).toEqual(visible(await ask('other-1'), 'other-1'));
      answers.push([answer.status, answer.json['items']]);
    }
    expect(answers).toEqual([
      [200, []],
      [404, undefined],
      [404, undefined],
    ]);
  });

  test('is in no list, and its costs are not counted', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    await begun(one, ann, 'a1', 'use write');
    await begun(one, bob, 'b1');
    await begun(one, ann, 'a2');
    const seenBy = async (user: Pick<Rig, 'ask'>) => [
      idsIn(await user.ask('GET', '/v1/sessions')).sort(),
      idsIn(await user.ask('GET', '/v1/approvals'), 'sessionId'),
      idsIn(await user.ask('GET', '/v1/costs?by=session'), 'key').sort(),
    ];
    expect(await seenBy(ann)).toEqual([['a1', 'a2'], ['a1'], ['a1', 'a2']]);
    expect(await seenBy(bob)).toEqual([['b1'], [], ['b1']]);
    expect(await seenBy(guest(one, 'eve'))).toEqual([[], [], []]);
    expect(await seenBy(one)).toEqual([['a1', 'a2', 'b1'], ['a1'], ['a1', 'a2', 'b1']]);
  });

  test('does not hide the sessions of a user on later pages of the list', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    await begun(one, ann, 'a');
    for (const id of ['b', 'c', 'd']) await begun(one, bob, id);
    const { json } = await ann.ask('GET', '/v1/sessions?limit=1');
    expect(json).toMatchObject({ items: [{ id: 'a' }] });
    expect(json['next']).toBeUndefined();
  });

  test('does not shorten the pages of the list', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    for (const id of ['a', 'b', 'c']) await begun(one, ann, id);
    await begun(one, bob, 'x');
    await begun(one, ann, 'd');
    for (const id of ['y', 'z']) await begun(one, bob, id);
    const first = await ann.ask('GET', '/v1/sessions?limit=3');
    expect(idsIn(first)).toEqual(['d', 'c', 'b']);
    expect(idsIn(await ann.ask('GET', `/v1/sessions?limit=3&cursor=${first.json['next']}`))).toEqual(['a']);
  });

  test('does not pass its approvals on to who creates its id again', async () => {
    const store = memoryStore();
    const [first, second] = [await rig({ store }), await rig({ store })];
    const ann = guest(first, 'ann');
    await begun(first, ann, 's', 'use write');
    const { json } = await ann.ask('GET', '/v1/approvals');
    const asked = Date.parse((json['items'] as { askedAt: string }[])[0]?.askedAt ?? '');
    while (Date.now() <= asked) await moment();
    await store.delete('s');
    await begun(second, guest(second, 'eve'), 's');
    const eve = guest(first, 'eve');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(200);
    expect((await eve.ask('GET', '/v1/approvals')).json['items']).toEqual([]);
  });

  test('leaves no approvals when any route creates its id again', async () => {
    const one = await rig();
    expect((await guest(one, 'ann').ask('POST', '/prompt', { content: 'use write' })).status).toBe(200);
    await one.idle('default');
    expect(idsIn(await one.ask('GET', '/v1/approvals'), 'sessionId')).toEqual(['default']);
    await one.store.delete('default');
    await one.watch('/events', guest(one, 'eve').headers);
    expect((await one.ask('GET', '/v1/approvals')).json['items']).toEqual([]);
  });

  test('cannot be created, opened or replaced under its id', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await begun(one, ann, 's');
    expect((await ann.ask('POST', '/v1/sessions', { id: 'new' })).status).toBe(201);
    expect((await ann.ask('POST', '/prompt', { content: 'say Hi.' })).status).toBe(200);
    const messages = [{ id: 'm', role: 'user', content: 'say Hi.' }];
    const answers = [
      await eve.ask('POST', '/v1/sessions', { id: 's' }),
      await eve.ask('POST', '/v1/sessions', { id: 'new' }),
      await eve.ask('GET', '/events'),
      await eve.ask('POST', '/prompt', { content: 'say Hi.' }),
      await eve.ask('POST', '/cancel'),
      await eve.ask('POST', '/v1/ag-ui', { threadId: 's', runId: 'r', messages }),
    ];
    expect(answers.map(({ status, json }) => [status, json['code']])).toEqual(
      answers.map(() => [409, 'id_taken']),
    );
    expect((await ann.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(200);
    expect((await one.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(200);
  });

  test('is another one, although both chose the same idempotency key', async () => {
    const one = await rig();
    const body = { model: 'cobbler', input: 'say Hi.' };
    const key = { 'idempotency-key': 'first' };
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    const responses = [
      await ann.ask('POST', '/openai/v1/responses', body, key),
      await eve.ask('POST', '/openai/v1/responses', body, key),
      await ann.ask('POST', '/openai/v1/responses', body, key),
    ];
    const [first, other, again] = responses.map(({ json }) => json['id']);
    expect([responses.map(({ status }) => status), again]).toEqual([[200, 200, 200], first]);
    expect(other).not.toBe(first);
  });
});

describe('a session', () => {
  test('of an earlier version, whose store names no user, belongs to the user of its first event', async () => {
    const store = memoryStore();
    const before = await rig({ store });
    await begun(before, guest(before, 'ann'), 's');
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
    expect(await reader.ask('GET', '/events')).toMatchObject({ status: 404, json: { code: 'no_session' } });
    expect((await guest(one, 'ann').ask('POST', '/prompt', { content: 'say Hi.' })).status).toBe(200);
    expect((await reader.ask('GET', '/events')).status).toBe(404);
  });

  test('belongs to all tokens of its user, and admins can use it', async () => {
    const one = await rig();
    const [laptop, phone] = [guest(one, 'ann'), guest(one, 'ann')];
    await begun(one, laptop, 's');
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
    await begun(one, ann, 's');
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
    await begun(before, ann, 's');
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
    await begun(first, ann, 's', 'say Secret.');
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
    await begun(first, ann, 's');
    expect((await eve.ask('GET', '/v1/sessions/s/messages')).status).toBe(404);
  });

  test('that another process deletes, and another user creates again, streams to no earlier client', async () => {
    const store = memoryStore();
    const first = await rig({ store });
    const second = await rig({ store, limits: { othersMs: 20 } });
    const [ann, eve] = [guest(first, 'ann'), guest(second, 'eve')];
    await begun(second, eve, 's');
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'finished');
    await store.delete('s');
    await begun(first, ann, 's');
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
    await begun(first, guest(first, 'ann'), 's', 'say Secret.');
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });

  test('that another user starts ends the subscriptions to it', async () => {
    const store = memoryStore();
    const service = serviceOf(store);
    const eve = new TokenStore().add({ name: 'eve', scopes: ['prompt'] });
    const session = await service.openOrCreate('s', eve);
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
    await begun(first, ann, 's', 'say Secret.');
    opened.resolve();
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });

  test('that is empty is not displaced by those of other users', async () => {
    const service = serviceOf(memoryStore());
    const [ann, eve] = ['ann', 'eve'].map((name) => new TokenStore().add({ name, scopes: ['prompt'] }));
    await service.create('a', ann);
    for (let count = 0; count <= 10_000; count += 1) await service.create(`e-${count}`, eve);
    expect((await service.session('a', ann)).id).toBe('a');
    await expect(service.session('e-0', eve)).rejects.toThrow('There is no session');
  });
});
