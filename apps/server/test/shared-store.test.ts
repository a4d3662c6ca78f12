import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { AgentError, createHarness, memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessScene } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { moment, rig } from './rig.ts';

/** A file of sessions for this test alone. */
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

describe('a file of sessions', () => {
  test('P13 keeps a session that was made, though nothing was said in it before the restart', async () => {
    const path = file();
    const first = await rig({ store: storeIn(path) });
    expect((await first.ask('POST', '/v1/sessions', { id: 'made' })).status).toBe(201);
    await first.server.close();
    await first.store.close();
    const second = await rig({ store: storeIn(path) });
    const made = await second.ask('GET', '/v1/sessions/made');
    expect(made).toMatchObject({ status: 200, json: { id: 'made', status: 'new', events: 0 } });
    expect(second.log.some((line) => line.includes('could not be gone on with'))).toBe(false);
    expect((await second.ask('POST', '/v1/sessions', { id: 'made' })).status).toBe(200);
    expect((await second.ask('POST', '/v1/sessions/made/prompt', { content: 'say Hi.' })).status).toBe(202);
    await second.idle('made');
    expect((await second.ask('DELETE', '/v1/sessions/made')).status).toBe(204);
    expect((await second.ask('GET', '/v1/sessions/made')).status).toBe(404);
  });

  test('P13 one that is made by twenty at once is made once, and is there for all of them', async () => {
    const kept = memoryStore();
    let claims = 0;
    const store: SessionStore = {
      ...kept,
      claim: (...given) => {
        claims += 1;
        return kept.claim(...given);
      },
      // All twenty look before the first of them makes it.
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

  test('P13 one that cannot be kept is refused with 503, and is not there', async () => {
    const kept = memoryStore();
    const full = () => {
      throw new AgentError({ kind: 'invalid', code: 'store_full', message: 'The disk is full.' });
    };
    const one = await rig({ store: { ...kept, append: full } });
    const made = await one.ask('POST', '/v1/sessions', { id: 'no-room' });
    expect(made).toMatchObject({ status: 503, json: { code: 'store' } });
    expect((await one.ask('GET', '/v1/sessions/no-room')).status).toBe(404);
  });

  test('P16 shows its readers what another process writes, and what that waits for', async () => {
    const path = file();
    const one = await rig({ store: storeIn(path), limits: { othersMs: 10 } });
    await one.ask('POST', '/v1/sessions', { id: 's' });
    const watched = await one.watch('/v1/sessions/s/events');
    // Another connection to the file is to us what another process is.
    const other = createHarness({ ...harnessScene(), store: storeIn(path), sessionId: 's' });
    await other.prompt('say Hi.').result;
    await watched.until(({ json }) => json['type'] === 'finished');
    await other.prompt('use write').result;
    await watched.until(({ json }) => json['type'] === 'finished' && json['status'] === 'waiting');
    const ids = watched.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    const { json } = await one.ask('GET', '/v1/approvals');
    expect(json['items']).toMatchObject([{ sessionId: 's', toolName: 'write' }]);
    // From here on this process goes on, and everything still comes once.
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say Again.' });
    await watched.until(
      ({ json: event }) => JSON.stringify(event).includes('Again.') && event['type'] === 'assistant',
    );
    await one.idle('s');
    const all = watched.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(all).toEqual(all.map((_, index) => index + 1));
  });
});
