import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { AgentError, memoryStore } from '@cobbler/agent';
import { createHarness } from '@cobbler/agent/harness';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Frame } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';

/** Returns the path of a session file for this test. */
function file(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-shared-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'sessions.db');
}

function storeIn(path: string) {
  const store = sqliteStore(path);
  onTestFinished(() => store.close());
  return store;
}

describe('a store of sessions', () => {
  test('keeps a session without events across a restart [P13]', async () => {
    const path = file();
    const first = await rig({ store: storeIn(path) });
    expect((await first.ask('POST', '/v1/sessions', { id: 'made' })).status).toBe(201);
    await first.server.close();
    await first.store.close();
    const second = await rig({ store: storeIn(path) });
    const made = await second.ask('GET', '/v1/sessions/made');
    expect(made).toMatchObject({ status: 200, json: { id: 'made', status: 'new', events: 0 } });
    expect(second.log.some((line) => line.includes('could not continue a run'))).toBe(false);
    expect((await second.ask('POST', '/v1/sessions', { id: 'made' })).status).toBe(200);
    expect((await second.ask('POST', '/v1/sessions/made/prompt', { content: 'say Hi.' })).status).toBe(202);
    await second.idle('made');
    expect((await second.ask('DELETE', '/v1/sessions/made')).status).toBe(204);
    expect((await second.ask('GET', '/v1/sessions/made')).status).toBe(404);
  });

  test('creates a session once for twenty concurrent requests with the same id [P13]', async () => {
    const kept = memoryStore();
    let claims = 0;
    const store: SessionStore = {
      ...kept,
      claim: (...given) => {
        claims += 1;
        return kept.claim(...given);
      },
      // All twenty requests look it up before the first one creates it.
      info: async (id) => {
        const found = await kept.info(id);
        await moment();
        return found;
      },
    };
    const one = await rig({ store });
    const make = async () => {
      const { status } = await one.ask('POST', '/v1/sessions', { id: 'same' });
      return [status, (await one.ask('GET', '/v1/sessions/same')).status];
    };
    const answers = await Promise.all(Array.from({ length: 20 }, make));
    expect(answers.map(String).sort()).toEqual([...Array(19).fill('200,200'), '201,200']);
    expect(claims).toBe(1);
    expect((await one.ask('POST', '/v1/sessions/same/prompt', { content: 'say Hi.' })).status).toBe(202);
    await one.idle('same');
    expect((await one.ask('GET', '/v1/sessions/same')).json['status']).toBe('complete');
  });

  test('returns 503 for a session that it cannot save, and 404 afterwards [P13]', async () => {
    const kept = memoryStore();
    const full = () => {
      throw new AgentError({ kind: 'invalid', code: 'store_full', message: 'The disk is full.' });
    };
    const one = await rig({ store: { ...kept, append: full } });
    const made = await one.ask('POST', '/v1/sessions', { id: 'no-room' });
    expect(made).toMatchObject({ status: 503, json: { code: 'store' } });
    expect((await one.ask('GET', '/v1/sessions/no-room')).status).toBe(404);
  });

  test('shows clients the events and pending approvals of another process [P16]', async () => {
    const path = file();
    const one = await rig({ store: storeIn(path), limits: { othersMs: 10 } });
    await one.ask('POST', '/v1/sessions', { id: 's' });
    const watched = await one.watch('/v1/sessions/s/events');
    // A second connection to the file acts like another process.
    const other = createHarness({ ...harnessFixture(), store: storeIn(path), sessionId: 's' });
    await other.prompt('say Hi.').result;
    await watched.until(({ json }) => json['type'] === 'finished');
    await other.prompt('use write').result;
    await watched.until(({ json }) => json['type'] === 'finished' && json['status'] === 'waiting');
    const ids = watched.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    const { json } = await one.ask('GET', '/v1/approvals');
    expect(json['items']).toMatchObject([{ sessionId: 's', toolName: 'write' }]);
    // From here on this process continues, and every event still arrives once.
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Again.' });
    await watched.until(
      ({ json: event }) => JSON.stringify(event).includes('Again.') && event['type'] === 'assistant',
    );
    await one.idle('s');
    const all = watched.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(all).toEqual(all.map((_, index) => index + 1));
  });
});

function sameTwice(store: SessionStore): readonly SessionStore[] {
  return [store, store];
}

describe('only stored events have a position [P13, P16]', () => {
  test.each([
    ['a file of sessions', (path: string) => [storeIn(path), storeIn(path)]],
    ['a store that both share', () => sameTwice(memoryStore())],
  ] as const)(
    'clients of two servers on %s receive each event once, in order and unchanged',
    async (_name, stores) => {
      const servers = await Promise.all(
        stores(file()).map((store) => rig({ store, limits: { othersMs: 5 } })),
      );
      const [one, other] = servers;
      if (one === undefined || other === undefined) throw new Error('Two servers are needed.');
      await one.ask('POST', '/v1/sessions', { id: 's' });
      await Promise.all(
        servers.map((server) => server.ask('POST', '/v1/sessions/s/prompt', { content: 'say One.' })),
      );
      const watched = await Promise.all(
        [...servers, ...servers].map((server) => server.watch('/v1/sessions/s/events')),
      );
      const prompts = ['use look', 'listen', 'say Two.', 'use look look', 'fail'];
      for (let turn = 0; turn < 40; turn += 1) {
        const content = prompts[turn % prompts.length];
        const answers = servers.map((server, index) =>
          (turn + index) % 3 === 0
            ? moment()
            : server.ask('POST', '/v1/sessions/s/prompt', { content: `${content}` }),
        );
        await Promise.all(answers);
        if (turn % 5 === 1)
          for (const server of servers) await server.ask('POST', '/v1/sessions/s/cancel', {});
      }
      for (const server of servers) await server.idle('s');
      const log = await one.store.read('s');
      expect(log.length).toBeGreaterThan(40);
      for (const { frames, until } of watched) {
        await until(({ id }) => Number(id) >= log.length);
        const stored = frames.filter(({ id }) => id !== undefined);
        expect(stored.map(({ data }) => data)).toEqual(log.map((event) => JSON.stringify(event)));
        expect(frames.filter(({ id, json }) => id === undefined && 'seq' in json)).toEqual([]);
      }
    },
  );

  test('clients receive the end of a run that the store rejected, and later the whole log', async () => {
    const kept = memoryStore();
    let room = 5;
    const store: SessionStore = {
      ...kept,
      append(...given) {
        room -= 1;
        if (room < 0)
          throw new AgentError({ kind: 'invalid', code: 'store_full', message: 'The disk is full.' });
        return kept.append(...given);
      },
    };
    const one = await rig({ store });
    await one.ask('POST', '/v1/sessions', { id: 's' });
    const watched = await one.watch('/v1/sessions/s/events');
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'loop' });
    const end = await watched.until(({ json }) => json['type'] === 'finished');
    expect(end.id).toBeUndefined();
    expect(end.json).toMatchObject({ status: 'failed', error: { code: 'store' } });
    expect(end.json).not.toHaveProperty('seq');
    const stored = (frames: readonly Frame[]) =>
      frames.filter(({ id }) => id !== undefined).map(({ data }) => data);
    const lines = async () => (await kept.read('s')).map((event) => JSON.stringify(event));
    expect(stored(watched.frames)).toEqual(await lines());
    // A new client receives it too.
    const late = await one.watch('/v1/sessions/s/events', { 'last-event-id': '3' });
    await late.until(({ json }) => json['type'] === 'finished' && !('seq' in json));
    expect(stored(late.frames)).toEqual((await lines()).slice(3));
    room = Infinity;
    await one.idle('s');
    expect((await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say On.' })).status).toBe(202);
    for (const { until, frames } of [watched, late]) {
      await until(({ id, json }) => id !== undefined && json['type'] === 'finished');
      const all = await lines();
      expect(stored(frames)).toEqual(all.slice(-stored(frames).length));
    }
    expect(stored(watched.frames)).toEqual(await lines());
  });

  test('events of another process are sent before a new run, and its key starts nothing', async () => {
    const path = file();
    // The interval is an hour, so only requests make the server look for new events.
    const one = await rig({ store: storeIn(path), limits: { othersMs: 3_600_000 } });
    const heads = { 'idempotency-key': 'first' };
    await one.ask('POST', '/v1/sessions', { id: 's' });
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say One.' }, heads);
    await one.idle('s');
    const watched = await one.watch('/v1/sessions/s/events');
    const other = createHarness({ ...harnessFixture(), store: storeIn(path), sessionId: 's' });
    for (let turn = 0; turn < 40; turn += 1)
      await other.prompt('use look', { runId: `other-${turn}` }).result;
    const again = await one.ask(
      'POST',
      '/v1/sessions/s/prompt',
      { content: 'use look' },
      { 'idempotency-key': 'other-7' },
    );
    expect(again).toMatchObject({ status: 202, json: { runId: 'other-7' } });
    await other.prompt('use write').result;
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Last.' });
    await watched.until(({ data }) => data.includes('"text":"Last."'));
    await one.idle('s');
    const events = await one.store.read('s');
    expect(events.filter(({ type, runId }) => type === 'user' && runId === 'other-7')).toHaveLength(1);
    const log = events.map((event) => JSON.stringify(event));
    await watched.until(({ id }) => Number(id) === log.length);
    expect(watched.frames.filter(({ id }) => id !== undefined).map(({ data }) => data)).toEqual(log);
  });
});
