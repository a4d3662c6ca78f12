import { describe, expect, test } from 'vitest';
import { guest } from '../support/guest.ts';
import { testPlaces } from '../support/places.ts';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

/** A session `s` with two messages, the second of which has changed a file and made one. */
async function edited() {
  const places = testPlaces();
  const one = await rig({ places });
  for (const [runId, content] of [
    ['first', 'say One.'],
    ['second', 'say Two.'],
  ]) {
    if (runId === 'first') await one.ask('POST', '/v1/sessions', { id: 's' });
    await one.ask('POST', '/v1/sessions/s/prompt', { content }, { 'idempotency-key': String(runId) });
    await one.idle('s');
  }
  places.files.set('a.txt', 'after').set('new.txt', 'new');
  places.changed.set(
    'second',
    new Map([
      ['a.txt', 'before'],
      ['new.txt', undefined],
    ] as const),
  );
  return { ...one, places };
}

async function offer({ ask }: Pick<Rig, 'ask'>, id = 's') {
  const { json } = await ask('GET', `/v1/sessions/${id}/undo`);
  return json as { undo?: { hash: string; seq: number }; redo?: { hash: string } };
}

describe('undo', () => {
  test('shows what it changes, restores the files, continues in a copy before the message, and can be taken back', async () => {
    const { ask, places, store } = await edited();
    const { undo } = await offer({ ask });
    const { seq = 0 } = (await store.read('s')).findLast(({ type }) => type === 'user') ?? {};
    expect(undo).toEqual({
      seq,
      hash: expect.any(String),
      files: [
        { path: 'a.txt', change: 'restore', isChanged: false },
        { path: 'new.txt', change: 'delete', isChanged: false },
      ],
    });
    const made = await ask('POST', '/v1/sessions/s/undo', { hash: undo?.hash });
    expect(made.status).toBe(200);
    const id = String(made.json['id']);
    expect([...places.files]).toEqual([['a.txt', 'before']]);
    expect((await store.info(id))?.parent).toEqual({ sessionId: 's', seq: seq - 1 });
    expect(places.kept).toEqual([`move s ${id}`]);
    expect((await offer({ ask })).redo).toBeUndefined();
    const { redo } = await offer({ ask }, id);
    expect(redo).toMatchObject({ sessionId: 's', files: [{ path: 'a.txt' }, { path: 'new.txt' }] });
    expect(await ask('POST', `/v1/sessions/${id}/redo`, { hash: redo?.hash })).toMatchObject({
      ...{ status: 200, json: { id: 's' } },
    });
    expect([...places.files]).toEqual([
      ['a.txt', 'after'],
      ['new.txt', 'new'],
    ]);
    expect((await offer({ ask }, id)).redo).toBeUndefined();
  });

  test('of the only message continues in an empty session like it, and the next message ends the redo', async () => {
    const { ask, places, store, idle } = await edited();
    await ask('POST', '/v1/sessions', { id: 'two', folder: '/second' });
    await ask('PATCH', '/v1/sessions/two', { plan: true });
    await ask('POST', '/v1/sessions/two/prompt', { content: 'say One.' });
    await idle('two');
    const { undo } = await offer({ ask }, 'two');
    expect(undo).toMatchObject({ seq: 1, files: [] });
    const id = String((await ask('POST', '/v1/sessions/two/undo', { hash: undo?.hash })).json['id']);
    expect([places.folderOf(id), places.plans(id), (await store.info(id))?.events ?? 0]).toEqual([
      ...['/second', true, 0],
    ]);
    expect(await offer({ ask }, id)).toMatchObject({ redo: { files: [] } });
    await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'say Two.' });
    await idle(id);
    expect((await offer({ ask }, id)).redo).toBeUndefined();
  });

  test('does only what was shown: after another change it is refused and changes nothing', async () => {
    const { ask, places } = await edited();
    const { undo } = await offer({ ask });
    places.files.set('a.txt', 'theirs');
    const refused = await ask('POST', '/v1/sessions/s/undo', { hash: undo?.hash });
    expect(refused).toMatchObject({ status: 409, json: { code: 'files_changed' } });
    expect(places.files.get('a.txt')).toBe('theirs');
    const again = await offer({ ask });
    expect(again.undo).toMatchObject({ files: [{ path: 'a.txt', isChanged: true }, {}] });
    expect((await ask('POST', '/v1/sessions/s/undo', { hash: again.undo?.hash })).status).toBe(200);
    expect(places.files.get('a.txt')).toBe('before');
  });

  test('is refused during a run, and no run starts before it has ended', async () => {
    const { ask, places, idle } = await edited();
    const { undo } = await offer({ ask });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const refused = await ask('POST', '/v1/sessions/s/undo', { hash: undo?.hash });
    expect(refused).toMatchObject({ status: 409, json: { code: 'busy' } });
    await ask('POST', '/v1/sessions/s/cancel', {});
    await idle('s');
    expect(places.files.get('a.txt')).toBe('after');
    const { undo: next } = await offer({ ask });
    const place = places.placeOf('s');
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const undoSlowly = () => {
      started.resolve();
      return ended.promise;
    };
    places.placeOf = () => place && { ...place, undo: { ...place.undo, undo: undoSlowly } };
    const undoing = ask('POST', '/v1/sessions/s/undo', { hash: next?.hash });
    await started.promise;
    for (const [path, body] of [
      ['prompt', { content: 'say Three.' }],
      ['resume', {}],
      ['undo', { hash: next?.hash }],
    ] as const)
      expect((await ask('POST', `/v1/sessions/s/${path}`, body)).json['code']).toBe('busy');
    expect((await ask('DELETE', '/v1/sessions/s')).json['code']).toBe('busy');
    ended.resolve();
    expect((await undoing).status).toBe(200);
    expect((await ask('POST', '/v1/sessions/s/prompt', { content: 'say Four.' })).status).toBe(202);
  });

  test('says which file could not be restored, without paths of the server', async () => {
    const { ask, places } = await edited();
    places.changed.set('second', new Map([['locked.txt', 'x']]));
    const { undo } = await offer({ ask });
    const { status, text } = await ask('POST', '/v1/sessions/s/undo', { hash: undo?.hash });
    expect([status, text]).toEqual([409, expect.stringContaining('not_restored')]);
    expect(text).not.toContain('/home/ada');
  });

  test('is for the owner of the session, with the right to approve', async () => {
    const one = await edited();
    const { undo } = await offer(one);
    await one.ask('PATCH', '/v1/sessions/s', { share: { with: 'bob', may: 'use' } });
    const [bob, eve] = [guest(one, 'bob'), guest(one, 'eve')];
    const limited = one.tokens.add({ name: 'owner', scopes: ['read', 'prompt'] });
    const headers = { authorization: `Bearer ${limited.token}` };
    for (const [method, path] of [
      ['GET', 'undo'],
      ['POST', 'undo'],
      ['POST', 'redo'],
    ] as const) {
      const body = method === 'POST' ? { hash: undo?.hash } : undefined;
      const url = `/v1/sessions/s/${path}`;
      expect((await bob.ask(method, url, body)).json['code']).toBe('owner');
      expect((await eve.ask(method, url, body)).status).toBe(404);
      expect((await one.ask(method, url, body, headers)).json['code']).toBe('scope');
    }
    expect(one.places.files.get('a.txt')).toBe('after');
  });

  test('is not possible without directories, or in one that cannot be used', async () => {
    const { ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say One.' });
    await idle('s');
    expect(await offer({ ask })).toEqual({});
    expect((await ask('POST', '/v1/sessions/s/undo', { hash: '' })).json['code']).toBe('nothing_to_undo');
    expect((await ask('GET', '/v1/setup')).json['local']).toBe(false);
  });
});

describe('commands in the background', () => {
  const command = { id: 'bg1', command: 'npm run dev', status: 'running', durationMs: 1200.4 };

  test('are listed for all who may read the session, and read with their output', async () => {
    const one = await edited();
    one.places.commands.set('s', [{ ...command, output: '\u001b[32mready\u001b[0m\r\n' }]);
    await one.ask('PATCH', '/v1/sessions/s', { share: { with: 'bob', may: 'read' } });
    for (const { ask } of [one, guest(one, 'bob')]) {
      const seen = { ...command, durationMs: 1200 };
      expect((await ask('GET', '/v1/sessions/s/commands')).json).toEqual({ items: [seen] });
      const { json } = await ask('GET', '/v1/sessions/s/commands/bg1');
      expect(json).toEqual({ ...seen, output: 'ready\n' });
    }
    expect((await guest(one, 'eve').ask('GET', '/v1/sessions/s/commands')).status).toBe(404);
    expect((await one.ask('GET', '/v1/sessions/s/commands/bg2')).json['code']).toBe('no_command');
  });

  test('are stopped by those who may send prompts', async () => {
    const one = await edited();
    one.places.commands.set('s', [{ ...command, output: '' }]);
    await one.ask('PATCH', '/v1/sessions/s', { share: { with: 'bob', may: 'approve' } });
    const stop = '/v1/sessions/s/commands/bg1/stop';
    expect((await guest(one, 'bob').ask('POST', stop)).status).toBe(403);
    expect(one.places.kept).toEqual([]);
    expect((await one.ask('POST', stop)).json).toMatchObject({ id: 'bg1', status: 'stopped' });
    expect(one.places.kept).toEqual(['stop s bg1']);
    expect((await one.ask('POST', '/v1/sessions/s/commands/bg9/stop')).status).toBe(404);
  });
});

describe('plan mode', () => {
  test('is turned on and off by the owner, for one session', async () => {
    const one = await edited();
    await one.ask('POST', '/v1/sessions', { id: 'other' });
    const modeOf = async (id: string) => (await one.ask('GET', `/v1/sessions/${id}`)).json['plan'];
    expect(await modeOf('s')).toBeUndefined();
    expect((await one.ask('PATCH', '/v1/sessions/s', { plan: true })).json['plan']).toBe(true);
    expect([await modeOf('s'), await modeOf('other')]).toEqual([true, undefined]);
    await one.ask('PATCH', '/v1/sessions/s', { share: { with: 'bob', may: 'use' } });
    expect((await guest(one, 'bob').ask('PATCH', '/v1/sessions/s', { plan: false })).status).toBe(403);
    expect(await modeOf('s')).toBe(true);
    expect((await one.ask('PATCH', '/v1/sessions/s', { plan: false })).json).not.toHaveProperty('plan');
  });

  test('is never reported as changed if it was not stored, or if the server has none', async () => {
    const one = await edited();
    await one.ask('POST', '/v1/sessions', { id: 'full' });
    const { status, text } = await one.ask('PATCH', '/v1/sessions/full', { plan: true });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(text).not.toContain('/home/ada');
    const { ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    expect((await ask('PATCH', '/v1/sessions/s', { plan: true })).json['code']).toBe('not_offered');
  });
});
