import { postgresStore } from '@cobbler/store-postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../packages/store-postgres/test/postgres-server.ts';
import { readBookings } from '../src/bookings.ts';
import type { Cobbler } from '../src/cobbler.ts';
import { NotServing } from '../src/cobbler.ts';
import type { Scene } from '../src/scene.ts';
import { setScene } from '../src/scene.ts';

let scene: Scene;
/** Shared by all processes of this machine: the system distributes the engine's connections. */
let port: string;

beforeAll(async () => {
  scene = await setScene({ nodes: 1, answerMs: [10, 20], bookMs: [10, 20] });
  port = String(await freePort());
});

afterAll(() => scene?.close());

async function serve(name: string, ...args: string[]): Promise<Cobbler> {
  const cobbler = await scene.serve(
    name,
    args.includes('--restate-port') ? args : ['--restate-port', port, ...args],
  );
  onTestFinished(() => cobbler.stop());
  return cobbler;
}

async function prompt(cobbler: Cobbler, id: string, content: string, key?: string) {
  await cobbler.ask('POST', '/v1/sessions', { body: { id } });
  const body = { content };
  return await cobbler.ask('POST', `/v1/sessions/${id}/prompt`, { body, ...(key !== undefined && { key }) });
}

async function until(cobbler: Cobbler, id: string, status: string): Promise<void> {
  const look = async () => (await cobbler.ask('GET', `/v1/sessions/${id}`)).json['status'];
  await expect.poll(look, { timeout: 60_000 }).toBe(status);
}

async function log(id: string) {
  const store = postgresStore({ url: scene.postgres.url, exclusion: 'runner' });
  try {
    return await store.read(id);
  } finally {
    await store.close();
  }
}

interface Asked {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly toolName: string;
  readonly hash: string;
}

async function asked(cobbler: Cobbler, id: string): Promise<readonly Asked[]> {
  const { items } = (await cobbler.ask('GET', '/v1/approvals')).json as { readonly items: readonly Asked[] };
  return items.filter(({ sessionId }) => sessionId === id);
}

describe('two processes of cobbler serve --runner restate --store postgres://…', () => {
  test('accept a decision at one after the other was killed, and run the tool once [P10]', async () => {
    const [one, other] = [await serve('A'), await serve('B')];
    expect((await prompt(one, 'asks', 'Book one place of asks.')).status).toBe(202);
    await until(one, 'asks', 'waiting');
    expect(readBookings(scene.bookings).filter(({ sessionId }) => sessionId === 'asks')).toEqual([]);
    await one.kill();
    // The other process has not received a request for this session before.
    const [approval] = await asked(other, 'asks');
    expect(approval?.toolName).toBe('mcp__bookings__book');
    const path = `/v1/sessions/asks/approvals/${approval?.approvalId}`;
    const body = { decision: 'allow', hash: approval?.hash };
    expect((await other.ask('POST', path, { body })).status).toBe(202);
    await until(other, 'asks', 'complete');
    expect((await other.ask('POST', path, { body })).status).toBe(409);
    expect(await asked(other, 'asks')).toEqual([]);
    const booked = readBookings(scene.bookings).filter(({ sessionId }) => sessionId === 'asks');
    expect(booked).toEqual([{ sessionId: 'asks', place: 0, by: 'B' }]);
  });

  test('no longer list an approval at one that the user decided at the other', async () => {
    const [one, other] = [await serve('A'), await serve('B')];
    await prompt(one, 'decided', 'Book one place of decided.');
    await until(one, 'decided', 'waiting');
    const [approval] = await asked(other, 'decided');
    const path = `/v1/sessions/decided/approvals/${approval?.approvalId}`;
    expect((await one.ask('POST', path, { body: { decision: 'deny' } })).status).toBe(202);
    await until(one, 'decided', 'complete');
    await expect.poll(() => asked(other, 'decided'), { timeout: 10_000 }).toEqual([]);
  });

  test('start nothing for a prompt that is repeated at the other with the same key', async () => {
    const [one, other] = [await serve('A', '--yes'), await serve('B', '--yes')];
    const content = 'Book one place of key.';
    const begun = await prompt(one, 'key', content, 'one-key');
    expect(begun).toMatchObject({ status: 202, json: { runId: 'one-key' } });
    const during = await other.ask('POST', '/v1/sessions/key/prompt', { body: { content }, key: 'one-key' });
    expect(during).toMatchObject({ status: 202, json: { sessionId: 'key', runId: 'one-key' } });
    await until(other, 'key', 'complete');
    const after = await other.ask('POST', '/v1/sessions/key/prompt', { body: { content }, key: 'one-key' });
    expect(after).toEqual(begun);
    const otherContent = { body: { content: 'Another.' }, key: 'one-key' };
    expect((await other.ask('POST', '/v1/sessions/key/prompt', otherContent)).status).toBe(409);
    expect((await log('key')).filter(({ type }) => type === 'user')).toHaveLength(1);
    expect(readBookings(scene.bookings).filter(({ sessionId }) => sessionId === 'key')).toHaveLength(1);
  });

  test('perform each prompt once if it is repeated at the other because a process was killed', async () => {
    const [one, other] = [await serve('A', '--yes'), await serve('B', '--yes')];
    const ids = Array.from({ length: 8 }, (_, index) => `lost-${index}`);
    const said = (cobbler: Cobbler, id: string) =>
      prompt(cobbler, id, `Book one place of ${id}.`, `key-${id}`);
    const first = ids.map((id) => said(one, id));
    await Promise.race(first);
    await one.kill();
    const answers = await Promise.allSettled(first);
    expect(answers.some(({ status }) => status === 'rejected')).toBe(true);
    for (const id of ids)
      expect(await said(other, id)).toMatchObject({ status: 202, json: { runId: `key-${id}` } });
    await Promise.all(ids.map((id) => until(other, id, 'complete')));
    for (const id of ids) {
      const events = await log(id);
      expect(events.filter(({ type }) => type === 'user')).toHaveLength(1);
      expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([`key-${id}`]));
    }
    const places = readBookings(scene.bookings).filter(({ sessionId }) => sessionId.startsWith('lost-'));
    expect(new Set(places.map(({ sessionId }) => sessionId)).size).toBe(places.length);
  });

  test('cancel a run that was started at the other', async () => {
    const one = await serve('A', '--yes');
    await prompt(one, 'stop', 'Wait.');
    await expect
      .poll(async () => (await log('stop')).some(({ type }) => type === 'tool_started'), { timeout: 30_000 })
      .toBe(true);
    // It starts after the run, so it does not perform the run.
    const other = await serve('B', '--yes');
    const before = performance.now();
    const cancelled = await other.ask('POST', '/v1/sessions/stop/cancel', { body: {} });
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled' } });
    expect(performance.now() - before).toBeLessThan(30_000);
    await until(one, 'stop', 'cancelled');
    expect((await prompt(one, 'stop', 'Well then.')).status).toBe(202);
    await until(other, 'stop', 'complete');
  });
});

describe('an unreachable address fails with the option that sets it', () => {
  const refused = async (...args: string[]): Promise<NotServing> => {
    const found = await serve('C', '--restate-port', String(await freePort()), ...args).catch(
      (error: unknown) => error,
    );
    if (found instanceof NotServing) return found;
    throw new Error('It serves.');
  };

  test.concurrent.for([
    [
      'the database',
      /Cannot reach the database postgres:\/\/127\.0\.0\.1:1\/name.*\n.*--store/s,
      '--store',
      'postgres://me:secret@127.0.0.1:1/name',
    ],
    [
      "the engine's admin API",
      /Cannot reach Restate at .*\n.*--restate-admin/s,
      '--restate-admin',
      'http://127.0.0.1:1',
    ],
    [
      "the engine's ingress",
      /Restate does not accept calls at http:\/\/127\.0\.0\.1:1\b.*\n.*ingress with --restate/s,
      '--restate',
      'http://127.0.0.1:1',
    ],
    [
      'this process, as the engine reaches it',
      /Restate rejected .*\n.*--restate-address/s,
      '--restate-address',
      'http://127.0.0.1:1',
    ],
    [
      'the port that the engine connects to',
      /Cannot listen on port \d+ on 203\.0\.113\.1 .*\n.*--restate-port/s,
      '--restate-host',
      '203.0.113.1',
      '--restate-identity-keys',
      'trust-network',
    ],
    [
      'a port that other machines can reach, without a key',
      /would listen on 203\.0\.113\.1 without identityKeys.*\n.*--restate-identity-keys/s,
      '--restate-host',
      '203.0.113.1',
    ],
  ] as const)('%s', async ([, words, ...args]) => {
    const { code, stderr } = await refused(...args);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/secret|unexpected|\n {4}at /);
    expect(code).toBe(2);
  });
});
