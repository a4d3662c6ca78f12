import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

/** Sends raw data and returns everything received until the connection closes. */
function raw({ server }: Rig, ...pieces: readonly (string | number)[]): Promise<string> {
  const { port, hostname } = new URL(server.url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, async () => {
      for (const piece of pieces) {
        if (typeof piece === 'string') socket.write(piece);
        else await new Promise((wait) => setTimeout(wait, piece));
        if (socket.destroyed) return;
      }
    });
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    onTestFinished(() => void socket.destroy());
  });
}

/** Sends a request with a custom Host header, which fetch does not allow. */
function asHost(
  { server, token }: Rig,
  headers: Record<string, string>,
  path = '/v1/sessions',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      server.url + path,
      { headers: { authorization: `Bearer ${token}`, ...headers }, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

const head = (rig: Rig, rest: string) =>
  `POST /prompt HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${rig.token}\r\ncontent-type: application/json\r\n${rest}`;

describe('access control [P15]', () => {
  /** The routes of the API that need no token. */
  const publicRoutes = ['GET /docs', 'GET /livez', 'GET /openapi.json', 'GET /readyz', 'POST /v1/cookie'];
  /** Routes that the API description omits. */
  const otherRoutes = ['GET /openai/v1/models', 'POST /openai/v1/responses'];

  /** Returns every route of a server except those of the page, with `s` in place of each id. */
  async function routesOf({ server }: Rig): Promise<string[]> {
    const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
    const described = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 's')}`),
    );
    return [...described, ...otherRoutes];
  }

  test('requires a token for every route that reads or changes data, also on loopback', async () => {
    const one = await rig();
    const routes = await routesOf(one);
    expect(routes).toEqual(expect.arrayContaining(['GET /events', 'POST /prompt', 'DELETE /v1/tokens/s']));
    for (const headers of [{}, { authorization: 'Bearer cbk_wrong' }, { authorization: 'Basic YTpi' }]) {
      const open: string[] = [];
      for (const name of routes) {
        const [method = '', path] = name.split(' ');
        const answer = await fetch(one.server.url + path, { method, headers });
        if (answer.status !== 401) open.push(name);
        else
          expect([name, answer.headers.get('www-authenticate')]).toEqual([
            name,
            expect.stringMatching(/^Bearer/),
          ]);
        await answer.body?.cancel();
      }
      expect(open.sort()).toEqual(publicRoutes);
    }
  });

  test('sets no cookie without a valid token', async () => {
    const { ask, token } = await rig();
    for (const [body, status] of [
      [undefined, 400],
      [{}, 400],
      [{ token: '' }, 401],
      [{ token: 'cbk_wrong' }, 401],
      [{ token: token.slice(0, -1) }, 401],
    ] as const) {
      // The exchange reads the token from the body only.
      const answer = await ask('POST', '/v1/cookie', body);
      expect([body, answer.status]).toEqual([body, status]);
      expect([answer.headers.get('set-cookie'), answer.json['key']]).toEqual([null, undefined]);
    }
  });

  test('serves the sign-in page, /livez and /readyz without a token', async () => {
    const { server } = await rig();
    const statuses = await Promise.all(
      ['/', '/livez', '/readyz'].map(async (path) => (await fetch(server.url + path)).status),
    );
    expect(statuses).toEqual([200, 200, 200]);
    const page = await (await fetch(server.url)).text();
    expect(page).not.toContain('session');
  });

  test('serves the API description without a token and without private data, but not to other origins', async () => {
    const one = await rig();
    await one.ask('POST', '/v1/sessions', { id: 'secret-session' });
    for (const path of ['/docs', '/openapi.json']) {
      const answer = await fetch(one.server.url + path);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).toContain('/v1/sessions/{sessionId}');
      expect(text).not.toContain('secret-session');
      expect(text).not.toContain(one.token);
      const { host } = new URL(one.server.url);
      expect(await asHost(one, { host, origin: 'https://evil.example' }, path)).toBe(403);
    }
  });

  test('rejects unknown host names and serves allowed ones', async () => {
    const one = await rig({ allowedHosts: ['cobbler.example'] });
    const { port } = new URL(one.server.url);
    for (const host of [
      '127.0.0.1',
      `localhost:${port}`,
      '[::1]:1',
      'cobbler.example',
      'Cobbler.Example:443',
    ]) {
      expect([host, await asHost(one, { host })]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      'evil127.0.0.1',
      'evil.localhost',
      'evilcobbler.example',
      'a@127.0.0.1',
      '0.0.0.0',
      '/',
    ]) {
      expect([host, await asHost(one, { host })]).toEqual([host, 403]);
    }
  });

  test('rejects every request from another origin', async () => {
    const one = await rig({ allowedHosts: ['cobbler.example'] });
    const { host } = new URL(one.server.url);
    const own = { host, origin: `http://${host}` };
    expect(await asHost(one, own)).toBe(200);
    expect(await asHost(one, { host: 'cobbler.example', origin: 'https://cobbler.example' })).toBe(200);
    for (const origin of [
      'https://evil.example',
      'null',
      'http://127.0.0.1:1',
      'file://',
      'http://localhost',
    ]) {
      expect([origin, await asHost(one, { host, origin })]).toEqual([origin, 403]);
      expect(await asHost(one, { host, origin }, '/livez')).toBe(403);
    }
  });

  test('sends no CORS headers', async () => {
    const { server } = await rig();
    const answer = await fetch(`${server.url}/livez`, { method: 'OPTIONS' });
    expect(answer.status).toBe(405);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('request validation [P15]', () => {
  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json; charset=utf-8', 200],
  ])('answers a body of type %s with %i', async (type, status) => {
    const { ask } = await rig();
    expect((await ask('POST', '/prompt', '{"content":"say Hi."}', { 'content-type': type })).status).toBe(
      status,
    );
  });

  test('answers a body of more than 1 MiB with 413, with or without a content-length', async () => {
    const one = await rig();
    const body = JSON.stringify({ content: 'x'.repeat(1024 * 1024) });
    expect((await one.ask('POST', '/prompt', body)).status).toBe(413);
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const answer = await raw(
      one,
      head(one, 'connection: close\r\ntransfer-encoding: chunked\r\n\r\n'),
      chunks,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('rejects a compressed body, an invalid one and one with a __proto__ key', async () => {
    const { ask } = await rig();
    expect((await ask('POST', '/prompt', '{}', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await ask('POST', '/prompt', '{"content":')).status).toBe(400);
    expect((await ask('POST', '/prompt', '[1]')).status).toBe(400);
    expect((await ask('POST', '/prompt', '{"content":"x","__proto__":{"a":1}}')).status).toBe(400);
  });

  test('answers headers that arrive too slowly with 408', async () => {
    const one = await rig({ limits: { headersMs: 200, requestMs: 400 } });
    const answer = await raw(one, 'GET /livez HTTP/1.1\r\n', 'host: 127', 5000);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('application/problem+json');
  });

  test('answers a body that arrives too slowly with 408', async () => {
    const one = await rig({ limits: { headersMs: 200, requestMs: 400 } });
    const answer = await raw(one, head(one, 'content-length: 100\r\n\r\n{'), 5000);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('answers a malformed request or oversized headers, and closes the connection', async () => {
    const one = await rig();
    expect(await raw(one, 'HELLO\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(one, `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
    const both = 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(one, head(one, both))).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(one, 'GET /livez HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('does not let a request inject a header into a response', async () => {
    const one = await rig();
    const split =
      'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-request-id: a\u00e9 b\r\n\r\n';
    expect(await raw(one, split)).not.toContain('x-request-id: a\u00e9');
    const answer = await one.ask('POST', '/v1/sessions', { id: 'a\r\nset-cookie: x=1' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([400, null]);
    expect((await one.ask('GET', '/v1/sessions/a%0d%0aset-cookie:x')).status).toBe(404);
    const named = await one.ask('GET', '/livez', undefined, { 'x-request-id': 'my-request.1' });
    expect(named.headers.get('x-request-id')).toBe('my-request.1');
  });

  test('rejects every path outside the routes', async () => {
    const one = await rig();
    const paths = [
      '/../../etc/passwd',
      '/v1/sessions/../../../etc/passwd',
      '/v1/sessions/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      '/v1/sessions/..%5c..%5c',
      '/v1/sessions/.hidden',
      '//evil.example/livez',
      '/v1/sessions/a/../../../livez%00',
      `/v1/sessions/${'a'.repeat(200)}`,
    ];
    for (const path of paths) {
      const auth = `authorization: Bearer ${one.token}\r\n`;
      const answer = await raw(
        one,
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${auth}connection: close\r\n\r\n`,
      );
      expect([path, answer.slice(9, 12)]).toEqual([path, expect.stringMatching(/400|404/)]);
      expect(answer).not.toContain('root:');
    }
    const elsewhere = 'GET http://evil.example/ HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n';
    expect(await raw(one, elsewhere)).toMatch(/ 400 /);
    expect(await raw(one, 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n')).toBe('');
  });

  test('reports an error without a stack or path, and with the request id', async () => {
    const one = await rig({
      settings: () => {
        throw new Error('/srv/secret/place broke');
      },
    });
    const answer = await one.ask('POST', '/prompt', { content: 'say Hi.' });
    expect([answer.status, answer.json['code']]).toEqual([500, 'internal']);
    expect(answer.text).not.toMatch(/secret|\.ts|at /);
    expect(answer.headers.get('x-request-id')).toBe(answer.json['requestId']);
    expect(one.log.join('\n')).toContain('/srv/secret/place broke');
    expect((await one.ask('GET', '/livez')).status).toBe(200);
  });

  test('releases 500 clients that connect and leave, some during their request', async () => {
    const one = await rig();
    await one.ask('POST', '/v1/sessions', { id: 's' });
    const auth = `authorization: Bearer ${one.token}\r\n`;
    const { port, hostname } = new URL(one.server.url);
    const visits = Array.from(
      { length: 500 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), hostname, () => {
            const whole = `GET /v1/sessions/s/events HTTP/1.1\r\nhost: 127.0.0.1\r\n${auth}\r\n`;
            socket.write(index % 3 === 0 ? whole : whole.slice(0, 10 + (index % 60)));
            if (index % 2 === 0) socket.destroy();
            else setImmediate(() => socket.resetAndDestroy());
          });
          socket.on('error', () => undefined);
          socket.on('close', () => resolve());
        }),
    );
    await Promise.all(visits);
    expect((await one.ask('GET', '/livez')).status).toBe(200);
    await expect
      .poll(async () => (await one.ask('GET', '/metrics')).text.match(/^cobbler_sse_clients .*/m)?.[0])
      .toBe('cobbler_sse_clients 0');
    await expect
      .poll(() => new Promise((resolve) => one.server.http.getConnections((_, count) => resolve(count))))
      .toBeLessThan(5);
  });
});
