import { connect } from 'node:net';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { idsIn } from '../../apps/server/test/support/guest.ts';
import type { Rig } from '../../apps/server/test/support/rig.ts';
import { rig, signedIn } from '../../apps/server/test/support/rig.ts';
import type { Attack, Scene } from './server-scene.ts';
import { repelled, scene, send } from './server-scene.ts';

/** Sends bytes and returns everything that the server answers until it closes the connection. */
function sendRaw({ server }: Rig, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { port, hostname } = new URL(server.url);
    const socket = connect({ port: Number(port), host: hostname });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined).on('close', () => resolve(text));
    socket.end(bytes, 'latin1');
  });
}

const withToken = ({ one }: Scene) => send(one, '/v1/sessions/s', { authorization: `Bearer ${one.token}` });
const withCookie = ({ one, pageHeaders }: Scene) => one.ask('GET', '/v1/sessions/s', undefined, pageHeaders);
const cookieWith = (on: Scene, change: (parts: string[]) => string[]) => {
  const [name, value = ''] = on.page.cookie.split('=');
  const cookie = `${name}=${change(value.split('.')).join('.')}`;
  return on.one.ask('GET', '/v1/sessions/s', undefined, { ...on.pageHeaders, cookie });
};

describe('a token is forged or used from elsewhere', () => {
  repelled([
    ['in the query', ({ one }) => send(one, `/v1/sessions/s?token=${one.token}`, {}), withToken],
    [
      'in the query of OAuth',
      ({ one }) => send(one, `/v1/sessions/s?access_token=${one.token}`, {}),
      withToken,
    ],
    [
      'as a password',
      ({ one }) => send(one, '/v1/sessions/s', { authorization: `Basic ${btoa(`a:${one.token}`)}` }),
      withToken,
    ],
    ['as a cookie', ({ one }) => send(one, '/v1/sessions/s', { cookie: `cobbler=${one.token}` }), withToken],
    [
      'in other letters',
      ({ one }) => send(one, '/v1/sessions/s', { authorization: `Bearer ${one.token.toUpperCase()}` }),
      withToken,
    ],
    [
      'two in one header',
      ({ one }) => send(one, '/v1/sessions/s', { authorization: `Bearer x, Bearer ${one.token}` }),
      withToken,
    ],
    [
      'its hash, which is in the token file',
      ({ one }) => {
        const id = one.tokens.list()[0]?.id ?? '';
        return send(one, '/v1/sessions/s', { authorization: `Bearer ${one.tokens.cookieKey(id)}` });
      },
      withToken,
    ],
    [
      'after it was revoked',
      async ({ one, ann }) => {
        const info = one.tokens.list().find(({ name }) => name === 'ann');
        one.tokens.remove(info?.id ?? '');
        return await ann.ask('GET', '/v1/sessions/s');
      },
      withToken,
    ],
    [
      'after its cookie outlived it',
      async ({ one }) => {
        const { token, id } = one.tokens.add({ name: 'ann', scopes: ['read'] });
        const { cookie, key } = await signedIn(one.ask, token);
        one.tokens.remove(id);
        return await one.ask('GET', '/v1/sessions/s', undefined, {
          authorization: '',
          cookie,
          'cobbler-page': key,
        });
      },
      withCookie,
    ],
    [
      'to manage tokens with the cookie of an admin',
      ({ one, pageHeaders }) =>
        one.ask('POST', '/v1/tokens', { name: 'eve', scopes: ['admin'] }, pageHeaders),
      ({ one }) => one.ask('POST', '/v1/tokens', { name: 'eve', scopes: ['admin'] }),
    ],
    [
      'a cookie without the key of its page',
      ({ one, page }) =>
        one.ask('GET', '/v1/sessions/s', undefined, { authorization: '', cookie: page.cookie }),
      withCookie,
    ],
    [
      'a cookie with the key of another page',
      async ({ one, pageHeaders }) => {
        const { key } = await signedIn(one.ask, one.token);
        return await one.ask('GET', '/v1/sessions/s', undefined, { ...pageHeaders, 'cobbler-page': key });
      },
      withCookie,
    ],
    [
      'a cookie with a later end',
      (on) => cookieWith(on, ([id = '', until = '', ...rest]) => [id, String(Number(until) + 1), ...rest]),
      withCookie,
    ],
    [
      'a cookie for another token',
      (on) => {
        const other = on.one.tokens.list().find(({ name }) => name === 'ann')?.id ?? '';
        return cookieWith(on, ([, ...rest]) => [other, ...rest]);
      },
      withCookie,
    ],
    [
      'a cookie without a signature',
      (on) => cookieWith(on, (parts) => [...parts.slice(0, 3), '']),
      withCookie,
    ],
    [
      'more scopes for a new token without the scope admin',
      ({ eve }) => eve.ask('POST', '/v1/tokens', { name: 'ann', scopes: ['read'] }),
      ({ one }) => one.ask('POST', '/v1/tokens', { name: 'ann', scopes: ['read'] }),
    ],
  ]);
});

const from =
  (headers: Record<string, string>) =>
  ({ one }: Scene) =>
    send(one, '/v1/sessions/s', { authorization: `Bearer ${one.token}`, ...headers });
const fromPage = (on: Scene) => {
  const { host } = new URL(on.one.server.url);
  return from({ host, origin: `http://${host}` })(on);
};

describe('a page of another site sends a request', () => {
  repelled(
    [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { host: 'user@127.0.0.1' },
      { host: 'evil.example', 'x-forwarded-host': '127.0.0.1' },
      { host: 'evil.example', forwarded: 'host=127.0.0.1' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:9' },
      { origin: 'http://localhost.evil.example' },
      { origin: 'https://evil.example', referer: 'http://127.0.0.1/' },
    ].map((headers): Attack => [JSON.stringify(headers), from(headers as Record<string, string>), fromPage]),
  );
});

describe('a second request is hidden in a first one', () => {
  const inner = (token: string) => {
    const body = '{"id":"hidden"}';
    const head = `host: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json`;
    return `POST /v1/sessions HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  };
  const start = 'POST /v1/cookie HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n';

  test.each([
    [
      'two kinds of length',
      (hidden: string) =>
        `${start}content-length: ${hidden.length + 5}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'two lengths',
      (hidden: string) => `${start}content-length: 0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['a length with a sign', (hidden: string) => `${start}content-length: +0\r\n\r\n${hidden}`],
    [
      'an unknown encoding',
      (hidden: string) => `${start}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'an encoding with a blank before the colon',
      (hidden: string) => `${start}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'a bare line feed in a header',
      (hidden: string) => `${start}x-a: b\ncontent-length: 0\r\n\r\n${hidden}`,
    ],
    [
      'a chunk with a bare line feed',
      (hidden: string) => `${start}transfer-encoding: chunked\r\n\r\n0\n\n${hidden}`,
    ],
    [
      'a declared length of the whole',
      (hidden: string) => `${start}content-length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    [
      'an upgrade',
      (hidden: string) =>
        `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n${hidden}`,
    ],
  ])('%s', async (_name, bytes) => {
    const { one } = await scene();
    await sendRaw(one, bytes(inner(one.token)));
    expect(idsIn(await one.ask('GET', '/v1/sessions'))).toEqual(['s']);
    expect((await one.ask('GET', '/v1/sessions/hidden')).status).toBe(404);
    // By itself, it creates the session.
    expect(await sendRaw(one, inner(one.token))).toContain('201 Created');
    expect((await one.ask('GET', '/v1/sessions/hidden')).status).toBe(200);
  });

  test.each(['host: evil.example', 'authorization: Bearer x', 'content-type: text/plain'])(
    'a header occurs again: %s',
    async (again) => {
      const { one } = await scene();
      const twice = inner(one.token).replace('connection: close', `${again}\r\nconnection: close`);
      expect(await sendRaw(one, twice)).toContain('400 Bad Request');
      expect((await one.ask('GET', '/v1/sessions/hidden')).status).toBe(404);
      expect(await sendRaw(one, inner(one.token))).toContain('201 Created');
    },
  );

  test.each([
    ['its length', (size: number) => ({ 'content-length': String(size) })],
    ['its chunks', () => ({ 'transfer-encoding': 'chunked' })],
  ])('a body is too large: %s', async (_name, lengthOf) => {
    const { one, ann } = await scene();
    const body = (size: number) => JSON.stringify({ content: `say ${'x'.repeat(size)}` });
    const prompt = (text: string) =>
      send(
        one,
        '/v1/sessions/s/prompt',
        {
          ...ann.headers,
          'content-type': 'application/json',
          ...lengthOf(text.length),
        },
        'POST',
        text,
      );
    const before = await one.store.read('s');
    expect((await prompt(body(1024 * 1024))).status).toBe(413);
    expect(await one.store.read('s')).toEqual(before);
    expect((await prompt(body(1000))).status).toBe(202);
  });
});

describe('a limit of a token is evaded', () => {
  const limits = { requestsPerMinute: 2, runningSessions: 1 };
  const scopes = ['read', 'prompt'] as const;

  test.each<[string, (one: Rig, token: string) => Promise<Record<string, string>>]>([
    [
      'by its cookie',
      async ({ ask }, token) => {
        const { cookie, key } = await signedIn(ask, token);
        return { authorization: '', cookie, 'cobbler-page': key };
      },
    ],
    [
      'by the address of another client',
      async (_, token) => ({ authorization: `Bearer ${token}`, 'x-forwarded-for': '10.0.0.1' }),
    ],
    [
      'by another method in a header',
      async (_, token) => ({ authorization: `Bearer ${token}`, 'x-http-method-override': 'GET' }),
    ],
  ])('%s', async (_name, headersOf) => {
    const { one } = await scene();
    const { token } = one.tokens.add({ name: 'eve', scopes, ...limits });
    const headers = await headersOf(one, token);
    const statuses = [];
    for (const id of ['a', 'b', 'c']) {
      const as = id === 'c' ? headers : { authorization: `Bearer ${token}` };
      statuses.push((await one.ask('POST', '/v1/sessions', { id }, as)).status);
    }
    expect(statuses).toEqual([201, 201, 429]);
  });

  test('by a second token of the user, and by prompts at the same time', async () => {
    const store = memoryStore();
    const held = Promise.withResolvers<void>();
    const append: SessionStore['append'] = async (id, events, writer) => {
      if (events.length > 0) await held.promise;
      return await store.append(id, events, writer);
    };
    const one = await rig({ store: { ...store, append } });
    const statuses: number[] = [];
    const prompt = async (id: string) => {
      const { token } = one.tokens.add({ name: 'eve', scopes, runningSessions: 1 });
      const as = { authorization: `Bearer ${token}` };
      await one.ask('POST', '/v1/sessions', { id }, as);
      statuses.push((await one.ask('POST', `/v1/sessions/${id}/prompt`, { content: 'hang' }, as)).status);
      // The one that is not refused is still starting then.
      if (statuses.length === 3) held.resolve();
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(prompt));
    expect(statuses).toEqual([429, 429, 429, 202]);
  });
});
