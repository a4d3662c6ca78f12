import { describe, expect, test } from 'vitest';
import { cachedCredentials } from '../../src/provider/http/credentials.ts';
import type { Credentials, UnauthorizedRequest } from '../../src/provider/wire/wire.ts';
import { fakeRuntime } from '../../src/testing/fake-runtime.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { FakeServer } from '../support/fake-server.ts';
import { refuses, streams } from '../support/fake-server.ts';
import { textAnswer } from '../support/plain-wire.ts';
import { hurry, rig, settle } from '../support/provider-rig.ts';

const bearer = (token: string): Credentials => ({ headers: { authorization: `Bearer ${token}` } });
const good = streams(textAnswer('Hello'));
const expired = refuses(401, 'The token has expired.');
const sentTo = (server: FakeServer) => server.exchanges.map(({ request }) => request);

describe('credentials of an attempt', () => {
  test('are asked for before each attempt, with the bytes that are sent', async () => {
    const asked: UnauthorizedRequest[] = [];
    const authorize = (request: UnauthorizedRequest) => {
      asked.push(request);
      return { headers: { 'X-Signature': `of ${request.body().length} bytes, ${asked.length}` } };
    };
    const { ask, server, runtime } = rig([refuses(503), good], { wire: { authorize } });
    const { attempts } = await hurry(runtime, ask());
    expect(attempts).toBe(2);
    const [first, second] = sentTo(server);
    const size = server.at(0).text.length;
    expect(first?.headers['x-signature']).toBe(`of ${size} bytes, 1`);
    expect(second?.headers['x-signature']).toBe(`of ${size} bytes, 2`);
    expect(asked[0]).toMatchObject({ method: 'POST', url: first?.url });
    expect(asked[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(asked[1]).not.toHaveProperty('rejected');
  });

  test('are replaced once when the service rejects them, at once and besides the retries', async () => {
    const given: (Credentials | undefined)[] = [];
    const authorize = ({ rejected }: UnauthorizedRequest) => {
      given.push(rejected);
      return bearer(rejected === undefined ? 'old-token' : 'new-token');
    };
    const { ask, server, events } = rig([expired, good], { wire: { authorize }, retry: { retries: 0 } });
    expect(await ask()).toMatchObject({ attempts: 2 });
    expect(given).toEqual([undefined, bearer('old-token')]);
    expect(sentTo(server).map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer old-token',
      'Bearer new-token',
    ]);
    expect(events.filter(({ type }) => type === 'retry')).toEqual([]);
  });

  test('that are rejected again fail the request, without their secrets', async () => {
    const authorize = () => ({ headers: { 'x-ticket': 'ticket-4711' }, secrets: ['ticket-4711'] });
    const refusal = refuses(401, 'unknown ticket-4711');
    const { fails, server } = rig([refusal, refusal, good], { wire: { authorize } });
    const error = await fails();
    expect(error).toMatchObject({ kind: 'auth', status: 401, attempts: 2 });
    expect(error.message).toContain('unknown [redacted]');
    expect(server.exchanges).toHaveLength(2);
  });

  test('that cannot be had fail the request before it is sent', async () => {
    const authorize = () => Promise.reject(new Error('The disk is full'));
    const { fails, server } = rig([good], { wire: { authorize } });
    expect(await fails()).toMatchObject({
      kind: 'auth',
      code: 'credentials',
      message: expect.stringContaining('The disk is full'),
    });
    expect(server.exchanges).toEqual([]);
  });

  test('are retried while their own service is not reachable', async () => {
    let calls = 0;
    const authorize = () => {
      calls += 1;
      if (calls === 1) throw new AgentError({ kind: 'network', message: 'No route', retryable: true });
      return bearer('token');
    };
    const { ask, runtime, server } = rig([good], { wire: { authorize } });
    await hurry(runtime, ask());
    expect(server.exchanges).toHaveLength(1);
  });

  test.each([
    ['nothing', undefined, /authorize\(\) is invalid/],
    ['headers that are not texts', { headers: { a: 1 } }, /header|string/],
    ['a line break in a header', { headers: { a: 'b\nc: d' } }, /not allowed in HTTP headers/],
  ])('%s instead of credentials is an error that says so', async (_, credentials, message) => {
    const { fails, server } = rig([good], { wire: { authorize: () => credentials as never } });
    expect((await fails()).message).toMatch(message);
    expect(server.exchanges).toEqual([]);
  });

  test('that arrive after an abort send nothing', async () => {
    const stop = new AbortController();
    let give: (credentials: Credentials) => void = () => {};
    const asked: UnauthorizedRequest[] = [];
    const authorize = (request: UnauthorizedRequest) => {
      asked.push(request);
      return new Promise<Credentials>((resolve) => {
        give = resolve;
      });
    };
    const { fails, server } = rig([good], { wire: { authorize } });
    const error = fails({}, stop.signal);
    await settle();
    stop.abort();
    expect(await error).toMatchObject({ kind: 'aborted' });
    expect(asked[0]?.signal.aborted).toBe(true);
    give(bearer('late'));
    await settle();
    expect(server.exchanges).toEqual([]);
  });
});

describe('cached credentials', () => {
  const request = { method: 'POST', url: '', headers: {}, body: () => new Uint8Array() } as const;
  const signal = new AbortController().signal;

  /** Loads tokens that expire after ten minutes. */
  function cache() {
    const runtime = fakeRuntime();
    let loads = 0;
    const load = async () => {
      loads += 1;
      return { ...bearer(`token-${loads}`), expiresAt: runtime.now() + 600_000 };
    };
    const authorize = cachedCredentials(load, runtime);
    const get = async (rejected?: Credentials) =>
      await authorize({ ...request, signal, ...(rejected && { rejected }) });
    return { runtime, get, loads: () => loads };
  }

  test('are loaded once for requests at the same time', async () => {
    const { get, loads } = cache();
    const all = await Promise.all([get(), get(), get()]);
    expect(new Set(all).size).toBe(1);
    expect(loads()).toBe(1);
  });

  test('are renewed a minute before they expire', async () => {
    const { runtime, get, loads } = cache();
    await get();
    await runtime.advance(539_999);
    await get();
    expect(loads()).toBe(1);
    await runtime.advance(1);
    await get();
    expect(loads()).toBe(2);
  });

  test('are renewed once when several requests are rejected with the same', async () => {
    const { get, loads } = cache();
    const old = await get();
    const [left, right] = await Promise.all([get(old), get(old)]);
    expect(left).toBe(right);
    expect(await get(old)).toBe(left);
    expect(loads()).toBe(2);
  });

  test('are loaded again after an error', async () => {
    let calls = 0;
    const authorize = cachedCredentials(async () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return bearer('token');
    });
    await expect(authorize({ ...request, signal })).rejects.toThrow('not yet');
    expect(await authorize({ ...request, signal })).toEqual(bearer('token'));
  });
});
