import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Scope, ShareChange } from '../../src/index.ts';
import type { Guest } from '../support/guest.ts';
import { guest, idsIn, startSession } from '../support/guest.ts';
import { testPlaces } from '../support/places.ts';
import type { Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';
import { sessionBodies, sessionRoutesOf } from '../support/session-routes.ts';

type Level = 'read' | 'approve' | 'use';

const share = (owner: Pick<Guest, 'ask'>, id: string, user: string, may: Level | 'none') =>
  owner.ask('PATCH', `/v1/sessions/${id}`, { share: { with: user, may } });

/** Starts a session of Ann, which waits for an approval, and shares it with Eve. */
async function shared(one: Rig, may: Level, scopes?: readonly Scope[]): Promise<{ ann: Guest; eve: Guest }> {
  const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve', scopes)];
  await startSession(one, ann, 's', 'use write');
  expect((await share(ann, 's', 'eve', may)).status).toBe(200);
  return { ann, eve };
}

/** Returns the status of a response without reading an event stream to its end. */
async function statusOf({ server }: Rig, { headers }: Guest, method: string, path: string, body: unknown) {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

describe('a shared session [P15]', () => {
  test.each<[Level, readonly Scope[]]>([
    ['read', ['read']],
    ['approve', ['read', 'approve']],
    ['use', ['read', 'prompt', 'approve']],
  ])('is open to its user for %s only, by every route and method', async (may, scopes) => {
    for (const { name, method, path, scope } of await sessionRoutesOf(await rig())) {
      const places = testPlaces();
      const command = { id: 'bg1', command: 'npm run dev', status: 'running', durationMs: 1, output: '' };
      places.commands.set('s', [command]);
      const one = await rig({ places });
      const { ann, eve } = await shared(one, may);
      const [approvalId] = idsIn(await ann.ask('GET', '/v1/approvals'), 'approvalId');
      const before = await one.store.read('s');
      const url = path
        .replace('{sessionId}', 's')
        .replace('{approvalId}', String(approvalId))
        .replace('{commandId}', 'bg1');
      const status = await statusOf(one, eve, method, url, sessionBodies[name]);
      const isOwners = method === 'DELETE' || /\/(undo|redo)$/.test(path);
      const isOpen = scopes.includes(scope as Scope) && !isOwners;
      expect([name, status]).toEqual([name, isOpen ? expect.toBeOneOf([200, 201, 202, 409]) : 403]);
      if (!isOpen) expect(await one.store.read('s')).toEqual(before);
      expect([name, await statusOf(one, guest(one, 'bob'), method, url, sessionBodies[name])]).toEqual([
        name,
        404,
      ]);
      await one.server.close();
    }
  });

  test('gives no scope that the token lacks', async () => {
    const one = await rig();
    const { eve } = await shared(one, 'use', ['read']);
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(200);
    expect((await eve.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' })).status).toBe(403);
    const prompter = guest(one, 'bob', ['prompt']);
    expect((await share(one, 's', 'bob', 'read')).status).toBe(200);
    expect((await prompter.ask('POST', '/v1/sessions/s/cancel')).status).toBe(404);
    expect((await prompter.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(409);
  });

  test('is in the lists of its user, who learns only the own level', async () => {
    const one = await rig();
    const { ann, eve } = await shared(one, 'approve');
    await share(ann, 's', 'bob', 'read');
    const list = (await eve.ask('GET', '/v1/sessions')).json['items'] as object[];
    expect(list).toEqual([expect.objectContaining({ id: 's', user: 'ann', may: 'approve' })]);
    expect(list[0]).not.toHaveProperty('shares');
    expect(idsIn(await eve.ask('GET', '/v1/approvals'), 'sessionId')).toEqual(['s']);
    expect((await eve.ask('GET', '/v1/costs?by=session')).json['items']).toEqual([]);
    const shares = [
      { user: 'eve', may: 'approve' },
      { user: 'bob', may: 'read' },
    ];
    for (const owner of [ann, one]) {
      const { json } = await owner.ask('GET', '/v1/sessions/s');
      expect(json).toMatchObject({ shares });
      expect(json).not.toHaveProperty('may');
    }
  });

  test('records who answered an approval, and the run counts for the user who asked', async () => {
    const one = await rig();
    const { eve } = await shared(one, 'approve');
    const [asked] = (await eve.ask('GET', '/v1/approvals')).json['items'] as Record<string, string>[];
    const path = `/v1/sessions/s/approvals/${asked?.['approvalId']}`;
    expect((await eve.ask('POST', path, { decision: 'allow', hash: asked?.['hash'] })).status).toBe(202);
    await one.idle('s');
    const events = await one.store.read('s');
    expect(events.find(({ type }) => type === 'approval_decided')).toMatchObject({ by: 'eve', user: 'ann' });
    expect(events.at(-1)).toMatchObject({ type: 'finished', status: 'complete', user: 'ann' });
  });

  test('counts the prompts of another user for that user, and still belongs to its owner', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await startSession(one, ann, 's');
    await share(ann, 's', 'eve', 'use');
    expect((await eve.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' })).status).toBe(202);
    await one.idle('s');
    expect((await one.store.read('s')).at(-1)).toMatchObject({ user: 'eve' });
    expect(idsIn(await eve.ask('GET', '/v1/costs?by=session'), 'key')).toEqual(['s']);
    expect((await ann.ask('GET', '/v1/sessions/s')).json['user']).toBe('ann');
    const fork = await eve.ask('POST', '/v1/sessions/s/fork');
    expect(fork.json).toMatchObject({ user: 'eve' });
    expect(fork.json).not.toHaveProperty('shares');
    expect((await ann.ask('GET', `/v1/sessions/${fork.json['id']}`)).status).toBe(404);
  });

  test('is shared and ended only by its owner and by admins, who share only what their token can do', async () => {
    const one = await rig();
    const { ann, eve } = await shared(one, 'use');
    for (const may of ['read', 'use', 'none'] as const)
      for (const user of ['bob', 'eve'])
        expect(await share(eve, 's', user, may)).toMatchObject({ status: 403, json: { code: 'owner' } });
    expect(await eve.ask('DELETE', '/v1/sessions/s')).toMatchObject({ status: 403, json: { code: 'owner' } });
    const laptop = guest(one, 'ann', ['read', 'prompt']);
    expect(await share(laptop, 's', 'bob', 'use')).toMatchObject({ status: 403, json: { code: 'scope' } });
    expect((await share(laptop, 's', 'bob', 'read')).status).toBe(200);
    expect((await share(guest(one, 'ann', ['read']), 's', 'bob', 'read')).status).toBe(403);
    expect((await share(one, 's', 'bob', 'none')).json['shares']).toEqual([{ user: 'eve', may: 'use' }]);
    expect((await ann.ask('DELETE', '/v1/sessions/s')).status).toBe(204);
    await startSession(one, ann, 's');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
  });

  test.each([
    [{}],
    [{ share: { with: '', may: 'read' } }],
    [{ share: { with: 'eve', may: 'admin' } }],
    [{ share: { with: 'eve', may: ['read'] } }],
    [{ share: { with: 'eve' } }],
    [{ share: { with: 'eve', may: 'read', by: 'ann' } }],
    [{ share: { with: 'e'.repeat(101), may: 'read' } }],
  ])('is not shared by the invalid body %j', async (body) => {
    const one = await rig();
    const ann = guest(one, 'ann');
    await startSession(one, ann, 's');
    expect((await ann.ask('PATCH', '/v1/sessions/s', body)).status).toBe(400);
    expect((await one.store.info('s'))?.shares).toBeUndefined();
  });

  test('can be shared before its first prompt if the store keeps it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sharing-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const one = await rig({ store: sqliteStore(join(folder, 'sessions.db')) });
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await ann.ask('POST', '/v1/sessions', { id: 'new' });
    expect((await eve.ask('GET', '/v1/sessions/new')).status).toBe(404);
    expect((await share(ann, 'new', 'eve', 'read')).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/new')).status).toBe(200);
    expect((await ann.ask('GET', '/v1/sessions/new')).status).toBe(200);
    expect((await share(ann, 'new', 'eve', 'none')).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/new')).status).toBe(404);
  });

  test('needs an event, and is shared with at most 100 users', async () => {
    const one = await rig();
    const ann = guest(one, 'ann');
    await ann.ask('POST', '/v1/sessions', { id: 'new' });
    expect(await share(ann, 'new', 'eve', 'read')).toMatchObject({
      status: 409,
      json: { code: 'empty_session' },
    });
    await startSession(one, ann, 's');
    for (let count = 0; count < 100; count += 1) await one.store.share('s', `user-${count}`, 'read');
    const refused = await share(ann, 's', 'eve', 'read');
    expect(refused).toMatchObject({ status: 409, json: { code: 'too_many_shares' } });
    expect((await share(ann, 's', 'user-0', 'use')).status).toBe(200);
    expect((await share(ann, 's', 'user-1', 'none')).status).toBe(200);
    expect((await share(ann, 's', 'eve', 'read')).status).toBe(200);
  });

  test('reports each change after it is stored', async () => {
    const changes: ShareChange[] = [];
    const one = await rig({ onShare: (change) => changes.push(change) });
    const { ann } = await shared(one, 'read');
    await share(ann, 'none', 'eve', 'read');
    await share(one, 's', 'eve', 'none');
    expect(changes).toEqual([
      { session: 's', name: 'eve', may: 'read', by: 'ann' },
      { session: 's', name: 'eve', by: 'owner' },
    ]);
  });

  test('is shared after a restart too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-sharing-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const open = () => sqliteStore(join(folder, 'server.db'));
    const store = open();
    const before = await rig({ store });
    const { eve } = await shared(before, 'read');
    await before.server.close();
    await store.close();
    const later = open();
    onTestFinished(() => later.close());
    const after = await rig({ store: later, tokens: before.tokens });
    expect((await after.ask('GET', '/v1/sessions/s', undefined, eve.headers)).status).toBe(200);
    const prompt = await after.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }, eve.headers);
    expect(prompt.status).toBe(403);
  });
});

describe('when a share ends [P15]', () => {
  test('the open streams of its user end, and no others', async () => {
    const one = await rig();
    const { ann, eve } = await shared(one, 'read');
    await share(ann, 's', 'bob', 'read');
    const streams = await Promise.all(
      [eve, guest(one, 'bob'), ann].map(({ headers }) => one.watch('/v1/sessions/s/events', headers)),
    );
    for (const stream of streams) await stream.until(({ json }) => json['type'] === 'finished');
    expect((await share(ann, 's', 'eve', 'none')).status).toBe(200);
    await streams[0]?.over;
    expect((await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'say Secret.' })).status).toBe(202);
    for (const stream of streams.slice(1)) await stream.until(({ data }) => data.includes('Secret'));
    expect(JSON.stringify(streams[0]?.frames)).not.toContain('Secret');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
    expect(idsIn(await eve.ask('GET', '/v1/sessions'))).toEqual([]);
  });

  test('its user cannot follow an active run, through a front end either', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await startSession(one, ann, 's');
    await share(ann, 's', 'eve', 'use');
    expect((await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'begin Half.' })).status).toBe(202);
    const stream = await one.watch('/v1/sessions/s/chat', eve.headers);
    await stream.until(({ data }) => data.includes('Half'));
    await share(ann, 's', 'eve', 'none');
    await stream.over;
    expect((await eve.ask('POST', '/v1/sessions/s/cancel')).status).toBe(404);
    expect((await ann.ask('POST', '/v1/sessions/s/cancel')).json['status']).toBe('cancelled');
  });

  test('in another process, its streams and requests end too, even while the session runs', async () => {
    const store = memoryStore();
    const [first, second] = [await rig({ store }), await rig({ store, limits: { othersMs: 20 } })];
    const [ann, eve] = [guest(second, 'ann'), guest(second, 'eve')];
    await startSession(second, ann, 's');
    expect((await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'hang' })).status).toBe(202);
    // The other server shares it, which a running session learns with the next request.
    const other = guest(first, 'ann');
    expect((await share(other, 's', 'eve', 'read')).status).toBe(200);
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'finished');
    expect((await share(other, 's', 'eve', 'none')).status).toBe(200);
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
    await share(other, 's', 'eve', 'read');
    const again = await second.watch('/v1/sessions/s/events', eve.headers);
    await again.until(({ json }) => json['type'] === 'finished');
    await share(other, 's', 'eve', 'none');
    await again.over;
  });

  test('a request that has started opens no stream that stays', async () => {
    const [arrived, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store = memoryStore();
    let calls = Infinity;
    const slow: SessionStore = {
      ...store,
      async info(id) {
        // The first call of the request decides on access, the second one precedes the stream.
        if (++calls === 2) {
          arrived.resolve();
          await goOn.promise;
        }
        return await store.info(id);
      },
    };
    const one = await rig({ store: slow });
    const { ann, eve } = await shared(one, 'read');
    calls = 0;
    const opening = one.watch('/v1/sessions/s/events', eve.headers);
    await arrived.promise;
    expect((await share(ann, 's', 'eve', 'none')).status).toBe(200);
    goOn.resolve();
    await (await opening).over;
  });

  test('the share of one user does not outlive a new owner', async () => {
    const store = memoryStore();
    const [first, second] = [await rig({ store }), await rig({ store, limits: { othersMs: 20 } })];
    const { eve } = await shared(second, 'read');
    const stream = await second.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ json }) => json['type'] === 'finished');
    await store.delete('s');
    await startSession(first, guest(first, 'bob'), 's', 'say Secret.');
    await stream.over;
    expect(JSON.stringify(stream.frames)).not.toContain('Secret');
  });
});

test('a decision that an approver is not shown is refused: the session is only shared to read', async () => {
  const one = await rig({ settings: () => ({ ...harnessFixture(), attended: true }) });
  const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
  await ann.ask('POST', '/v1/sessions', { id: 's' });
  await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'use write' });
  while (idsIn(await ann.ask('GET', '/v1/approvals')).length === 0) await moment();
  await share(ann, 's', 'eve', 'read');
  const [asked] = (await eve.ask('GET', '/v1/approvals')).json['items'] as Record<string, string>[];
  const path = `/v1/sessions/s/approvals/${asked?.['approvalId']}`;
  const allow = { decision: 'allow', hash: asked?.['hash'] };
  expect(await eve.ask('POST', path, allow)).toMatchObject({ status: 403, json: { code: 'scope' } });
  await share(ann, 's', 'eve', 'approve');
  expect((await eve.ask('POST', path, allow)).status).toBe(202);
});
