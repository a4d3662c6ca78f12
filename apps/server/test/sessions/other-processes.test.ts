import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import type { SharedStore } from '@cobbler/agent/harness';
import { createHarness, receiveRequests } from '@cobbler/agent/harness';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreWatch } from '../../src/sessions/store-watch.ts';
import { guest, startSession } from '../support/guest.ts';
import { testPlaces } from '../support/places.ts';
import type { Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';

function stores(): readonly [SessionStore, SessionStore] {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-processes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => {
    const store = sqliteStore(join(folder, 'sessions.db'));
    onTestFinished(() => store.close());
    return store;
  };
  return [open(), open()];
}

/** Starts a run in another process that waits for a decision, as a chat in a terminal does. */
async function terminal(store: SessionStore, sessionId = 's') {
  const harness = createHarness({ ...harnessFixture(), attended: true, store, sessionId });
  const run = harness.prompt('use write');
  receiveRequests(store as SharedStore, run, { pollMs: 5 });
  for await (const event of run) if (event.type === 'approval_requested') break;
  onTestFinished(() => harness.close());
  // An async function would await a returned run.
  return { run };
}

async function approvalIn(one: Rig, sessionId = 's') {
  const { json } = await one.ask('GET', `/v1/approvals?session=${sessionId}`);
  const [item] = json['items'] as Record<string, string>[];
  return item ?? {};
}

describe('a session that another process runs', () => {
  test('is listed as waiting, and its approval is decided here [P16]', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here, limits: { othersMs: 10 } });
    const { json: list } = await one.ask('GET', '/v1/sessions');
    expect(list['items']).toMatchObject([{ id: 's', status: 'waiting' }]);
    const { approvalId, hash } = await approvalIn(one);
    const answered = await one.ask('POST', `/v1/sessions/s/approvals/${approvalId}`, {
      decision: 'allow',
      hash,
    });
    expect([answered.status, answered.json['runId']]).toEqual([202, run.id]);
    expect((await run).status).toBe('complete');
    await one.idle('s');
    expect((await one.ask('GET', '/v1/sessions/s')).json['status']).toBe('complete');
  });

  test('is steered and cancelled here, and not prompted, resumed or deleted', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here, limits: { othersMs: 10 } });
    for (const [method, path, body] of [
      ['POST', '/prompt', { content: 'say Hi.' }],
      ['POST', '/resume', {}],
      ['DELETE', '', undefined],
    ] as const) {
      const { status, json } = await one.ask(method, `/v1/sessions/s${path}`, body);
      expect([status, json['code'], json['runId']]).toEqual([409, 'busy', run.id]);
    }
    expect((await one.ask('POST', '/v1/sessions/s/steer', { content: 'Hurry.' })).status).toBe(202);
    const cancelled = await one.ask('POST', '/v1/sessions/s/cancel', {});
    expect(cancelled.json).toEqual({ status: 'cancelled', runId: run.id });
    expect((await run).status).toBe('cancelled');
    await one.idle('s');
    expect((await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' })).status).toBe(202);
  });

  test('refuses a message that its run ends without, so that the client can send it as a prompt', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here, limits: { othersMs: 10 } });
    await one.ask('GET', '/v1/sessions/s');
    run.cancel();
    await run;
    const { status, json } = await one.ask('POST', '/v1/sessions/s/steer', { content: 'Hurry.' });
    expect([status, json['code']]).toEqual([409, 'not_running']);
  });

  test('does not delay the end of the server', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here, limits: { drainMs: 60_000 } });
    await one.ask('GET', '/v1/sessions/s');
    await one.server.close();
    run.cancel();
    expect((await run).status).toBe('cancelled');
  });

  test('belongs to no user, so only the owner finds it', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here });
    const ann = guest(one, 'ann');
    expect((await ann.ask('GET', '/v1/sessions')).json['items']).toEqual([]);
    expect((await ann.ask('GET', '/v1/approvals')).json['items']).toEqual([]);
    expect((await ann.ask('GET', '/v1/search?words=write')).json['items']).toEqual([]);
    expect((await one.ask('GET', '/v1/search?words=write')).json['items']).toMatchObject([
      { sessionId: 's', seq: 1 },
    ]);
    run.cancel();
  });
});

test('a search finds only messages that the token may read, and continues from its cursor', async () => {
  const [store] = stores();
  const one = await rig({ store });
  const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
  for (const id of ['a1', 'a2', 'a3']) await startSession(one, ann, id, 'say marble.');
  await startSession(one, bob, 'b1', 'say marble.');
  const ids = async (path: string) => {
    const { json } = await bob.ask('GET', path);
    return (json['items'] as { sessionId: string }[]).map(({ sessionId }) => sessionId);
  };
  expect(new Set(await ids('/v1/search?words=marble'))).toEqual(new Set(['b1']));
  await ann.ask('PATCH', '/v1/sessions/a2', { share: { with: 'bob', may: 'read' } });
  expect(new Set(await ids('/v1/search?words=marble'))).toEqual(new Set(['b1', 'a2']));
  const first = await ann.ask('GET', '/v1/search?words=marble&limit=1');
  const second = await ann.ask('GET', `/v1/search?words=marble&limit=100&cursor=${first.json['next']}`);
  const own = [first, second].flatMap(({ json }) => json['items'] as { sessionId: string; seq: number }[]);
  expect(new Set(own.map(({ sessionId }) => sessionId))).toEqual(new Set(['a1', 'a2', 'a3']));
  expect(new Set(own.map(({ sessionId, seq }) => `${sessionId} ${seq}`)).size).toBe(own.length);
});

test('a store without a search says so', async () => {
  const one = await rig();
  const { status, json } = await one.ask('GET', '/v1/search?words=x');
  expect([status, json['code']]).toEqual([501, 'no_search']);
  expect((await one.ask('GET', '/v1/sessions')).json['version']).toBeUndefined();
});

test('a client that waits for changes of the list learns of a write of another process', async () => {
  const [here, there] = stores();
  const one = await rig({ store: here, limits: { othersMs: 10 } });
  const { version } = (await one.ask('GET', '/v1/sessions')).json;
  const waiting = one.ask('GET', `/v1/sessions?wait=${version}`);
  await createHarness({ ...harnessFixture(), store: there, sessionId: 'new' }).prompt('say Hi.').result;
  expect((await waiting).json['items']).toMatchObject([{ id: 'new' }]);
  expect((await one.ask('GET', `/v1/sessions?wait=${version}`)).status).toBe(200);
});

test('the store is looked at only for a client, and a client waits for a limited time', async () => {
  let [version, looks, now] = ['1', 0, 0];
  const store = {
    version: () => {
      looks += 1;
      return version;
    },
  };
  const watch = new StoreWatch(store, () => now);
  expect([watch.look(false), looks]).toEqual([false, 0]);
  expect([watch.look(true), watch.look(true)]).toEqual([true, false]);
  const woken: string[] = [];
  const wait = (name: string) => void watch.changed(version, () => undefined).then(() => woken.push(name));
  wait('time');
  now = 24_999;
  watch.look(false);
  await moment();
  expect(woken).toEqual([]);
  now = 25_000;
  watch.look(false);
  await moment();
  wait('change');
  version = '2';
  expect(watch.look(false)).toBe(true);
  await moment();
  wait('end');
  watch.close();
  await moment();
  expect(woken).toEqual(['time', 'change', 'end']);
});

describe('directories and rules', () => {
  test('the owner starts sessions in the directories of the server, and others only in the default one', async () => {
    const one = await rig({ places: testPlaces([]) });
    const ann = guest(one, 'ann');
    expect((await one.ask('GET', '/v1/folders')).json['items']).toEqual(['/first', '/second', '/gone']);
    expect((await ann.ask('GET', '/v1/folders')).json['items']).toEqual([]);
    const made = await one.ask('POST', '/v1/sessions', { id: 'two', folder: '/second' });
    expect([made.status, made.json['folder']]).toEqual([201, '/second']);
    for (const [user, folder] of [
      [one, '/etc'],
      [one, '/second/../etc'],
      [ann, '/second'],
    ] as const) {
      const { status, json } = await user.ask('POST', '/v1/sessions', { id: 'other', folder });
      expect([status, json['code']]).toEqual([403, 'folder']);
    }
    await one.ask('POST', '/v1/sessions/two/prompt', { content: 'say Hi.' });
    await one.idle('two');
    await startSession(one, ann, 'a');
    const listed = await one.ask('GET', '/v1/sessions?folder=/second');
    expect(listed.json['items']).toMatchObject([{ id: 'two', folder: '/second' }]);
    expect((await ann.ask('GET', '/v1/sessions')).json['items']).toMatchObject([
      { id: 'a', folder: '/first' },
    ]);
    await one.ask('POST', '/v1/sessions', { id: 'gone', folder: '/gone' });
    const refused = await one.ask('POST', '/v1/sessions/gone/prompt', { content: 'say Hi.' });
    expect([refused.status, refused.json['code']]).toEqual([409, 'unusable_folder']);
  });

  test('the owner saves one of the offered rules with a decision, and no other rule can be saved', async () => {
    const kept: string[] = [];
    const one = await rig({ places: testPlaces(kept) });
    const ann = guest(one, 'ann');
    await startSession(one, ann, 's', 'use write');
    const { approvalId, hash } = await approvalIn(one);
    const path = `/v1/sessions/s/approvals/${approvalId}`;
    expect((await ann.ask('GET', path)).json['rules']).toBeUndefined();
    expect((await one.ask('GET', path)).json['rules']).toEqual(['write(x)', 'write']);
    for (const [user, body] of [
      [ann, { decision: 'allow', hash, always: 'write' }],
      [one, { decision: 'allow', hash, always: '*' }],
      [one, { decision: 'deny', always: 'write' }],
    ] as const) {
      const { status, json } = await user.ask('POST', path, body);
      expect([status, json['code']]).toEqual([403, 'rule']);
    }
    expect(kept).toEqual([]);
    const allowed = await one.ask('POST', path, { decision: 'allow', hash, always: 'write(x)' });
    expect([allowed.status, kept]).toEqual([202, ['s write(x)']]);
  });

  test('no rule is offered for a run of another process, which would not learn of it', async () => {
    const [here, there] = stores();
    const { run } = await terminal(there);
    const one = await rig({ store: here, places: testPlaces([]) });
    const { approvalId, hash } = await approvalIn(one);
    const path = `/v1/sessions/s/approvals/${approvalId}`;
    expect((await one.ask('GET', path)).json['rules']).toBeUndefined();
    expect((await one.ask('POST', path, { decision: 'allow', hash, always: 'write' })).status).toBe(403);
    run.cancel();
  });
});
