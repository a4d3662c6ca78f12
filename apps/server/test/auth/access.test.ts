import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { wholeRun, write } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../src/index.ts';
import { defaultLimits, TokenStore } from '../../src/index.ts';
import { SessionService } from '../../src/sessions/session-service.ts';
import { TokenBudgets } from '../../src/sessions/token-budgets.ts';
import { Logger } from '../../src/telemetry/logger.ts';
import { Meters } from '../../src/telemetry/meters.ts';
import type { Answered, Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

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
    expect((await ann.ask('GET', '/v1/sessions/empty')).status).toBe(200);
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
    expect((await eve.ask('POST', '/v1/sessions', { id: 'empty' })).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/empty')).status).toBe(200);
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
    const service = new SessionService({
      store: memoryStore(),
      settings: () => harnessFixture(),
      limits: defaultLimits,
      budgets: new TokenBudgets(undefined, () => 0),
      tokens: new TokenStore(),
      logger: new Logger(() => undefined),
      meters: new Meters(),
      onEvent: () => undefined,
    });
    const [ann, eve] = ['ann', 'eve'].map((name) => new TokenStore().add({ name, scopes: ['prompt'] }));
    await service.create('a', ann);
    for (let count = 0; count <= 10_000; count += 1) await service.create(`e-${count}`, eve);
    expect((await service.session('a', ann)).id).toBe('a');
    await expect(service.session('e-0', eve)).rejects.toThrow('There is no session');
  });
});
