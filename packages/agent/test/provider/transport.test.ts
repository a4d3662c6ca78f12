import { execFile } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { defaultTransport, nodeTransport } from '../../src/node/transport.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import { fetchTransport } from '../../src/provider/http/fetch-transport.ts';
import type { RawResponse, Transport } from '../../src/provider/wire/transport.ts';
import { userMessage } from '../../src/values/message.ts';
import { systemRuntime } from '../../src/values/runtime.ts';
import { plainWire, textAnswer } from '../support/plain-wire.ts';
import { able } from '../support/provider-rig.ts';

const open: http.Server[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Served {
  readonly url: string;
  readonly connections: Socket[];
  readonly bodies: string[];
}

/** Starts a local server; `handle` gets each request after its body, and its number. */
async function serve(
  handle: (request: http.IncomingMessage, response: http.ServerResponse, index: number) => void,
): Promise<Served> {
  const connections: Socket[] = [];
  const bodies: string[] = [];
  const server = http.createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    handle(request, response, bodies.push(body) - 1);
  });
  server.on('connection', (socket) => connections.push(socket));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1?x=1`, connections, bodies };
}

interface Sent {
  readonly body?: string[];
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

function send(
  transport: Transport,
  url: string,
  { body = ['{}'], headers = {}, signal }: Sent = {},
): Promise<RawResponse> {
  const encoder = new TextEncoder();
  return transport({
    url,
    headers,
    body: body.map((chunk) => encoder.encode(chunk)),
    signal: signal ?? new AbortController().signal,
  });
}

async function textOf(response: RawResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  await response.read((chunk) => chunks.push(chunk));
  return Buffer.concat(chunks).toString();
}

describe('the Node transport', () => {
  test('sends the byte ranges as one body of known length and reads the response', async () => {
    const heads: http.IncomingMessage[] = [];
    const { url, bodies } = await serve((request, response) => {
      heads.push(request);
      response.writeHead(201, { 'X-Two': ['a', 'b'] }).end('done ä');
    });
    const response = await send(nodeTransport(), url, {
      body: ['{"a":', '"ä"', '}'],
      headers: { 'x-key': 'k' },
    });
    expect(response.status).toBe(201);
    expect(response.header('x-two')).toBe('a, b');
    expect(response.header('x-none')).toBeUndefined();
    expect(response.headerNames).toContain('x-two');
    expect(await textOf(response)).toBe('done ä');
    expect(bodies).toEqual(['{"a":"ä"}']);
    expect(heads[0]).toMatchObject({
      method: 'POST',
      url: '/v1?x=1',
      headers: { 'content-length': '10', 'accept-encoding': 'identity', 'x-key': 'k' },
    });
  });

  test('uses one connection for consecutive requests', async () => {
    const { url, connections } = await serve((_, response) => response.end('ok'));
    const transport = nodeTransport();
    for (let count = 0; count < 5; count += 1) await textOf(await send(transport, url));
    expect(connections).toHaveLength(1);
  });

  test('keeps the connection after a body is read to its end, even if it is then closed', async () => {
    const { url, connections } = await serve((_, response) => response.end('ok'));
    const transport = nodeTransport();
    const response = await send(transport, url);
    await textOf(response);
    response.close();
    await textOf(await send(transport, url));
    expect(connections).toHaveLength(1);
  });

  test('destroys the connection immediately on abort, before and after the head [S0.22]', async () => {
    const closed: Promise<unknown>[] = [];
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { url } = await serve((_, response, index) => {
      closed.push(new Promise((resolve) => response.on('close', resolve)));
      if (index === 1) response.write('half');
      arrived[index]?.resolve();
    });
    const transport = nodeTransport();
    const [before, after] = [new AbortController(), new AbortController()];
    const waiting = send(transport, url, { signal: before.signal });
    await arrived[0]?.promise;
    before.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const response = await send(transport, url, { signal: after.signal });
    const reading = textOf(response);
    after.abort();
    await expect(reading).rejects.toThrow();
    await Promise.all(closed);
    await expect(send(transport, url, { signal: after.signal })).rejects.toThrow();
  });

  test('closes the connection if an unread body is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_, response) => {
      response.on('close', closed.resolve);
      response.write('half');
    });
    (await send(nodeTransport(), url)).close();
    await closed.promise;
  });

  test('rejects a body that breaks', async () => {
    const { url } = await serve((_, response) => {
      response.write('half');
      setImmediate(() => response.socket?.resetAndDestroy());
    });
    await expect(textOf(await send(nodeTransport(), url))).rejects.toThrow();
  });

  test('rejects a body that breaks before it is read, without a crash [P18]', async () => {
    const broken = Promise.withResolvers<void>();
    const { url } = await serve((_, response) => {
      response.write('half', () => {
        response.socket?.destroy();
        response.on('close', broken.resolve);
      });
    });
    const response = await send(nodeTransport(), url);
    await broken.promise;
    // The client notices the close in one of the next turns of the event loop.
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
    await expect(textOf(response)).rejects.toThrow();
  });

  test('returns a redirect like any other response [P6]', async () => {
    const { url, bodies } = await serve((_, response) =>
      response.writeHead(307, { location: '/else' }).end(),
    );
    expect((await send(nodeTransport(), url)).status).toBe(307);
    expect(bodies).toHaveLength(1);
  });

  test('rejects a compressed response, because it did not request one [P1]', async () => {
    const { url } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
    );
    await expect(textOf(await send(nodeTransport(), url))).rejects.toMatchObject({
      kind: 'agent',
      code: 'content_encoding',
    });
  });

  test('rejects a line break in a header without showing the value', async () => {
    const error = await send(nodeTransport(), 'http://127.0.0.1:1/', {
      headers: { 'x-key': 'geheim\r\nx: y' },
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'invalid', code: 'header' });
    expect(String(error)).not.toContain('geheim');
  });
});

describe('an idle connection that the server closed', () => {
  /** Serves the first request; `then` handles the later ones. */
  async function closing(then: (response: http.ServerResponse, index: number) => void) {
    const served = await serve((_, response, index) => {
      if (index === 0) response.end('first');
      else then(response, index);
    });
    const transport = nodeTransport();
    await textOf(await send(transport, served.url));
    return { ...served, transport };
  }

  test('is replaced, and the request is sent again once without an error', async () => {
    const { transport, url, bodies, connections } = await closing((response, index) => {
      if (index === 1) response.socket?.destroy();
      else response.end('second');
    });
    expect(await textOf(await send(transport, url, { body: ['{"n":2}'] }))).toBe('second');
    expect(bodies).toEqual(['{}', '{"n":2}', '{"n":2}']);
    expect(connections).toHaveLength(2);
  });

  test('is replaced by a new connection, not by another idle one', async () => {
    const first = Promise.withResolvers<void>();
    const old = new Set<unknown>();
    const { url, bodies } = await serve((request, response, index) => {
      if (old.has(request.socket)) return void request.socket.destroy();
      if (index < 2) old.add(request.socket);
      if (index === 0) void first.promise.then(() => response.end('ok'));
      else {
        response.end('ok');
        first.resolve();
      }
    });
    const transport = nodeTransport();
    await Promise.all([0, 1].map(async () => textOf(await send(transport, url))));
    expect(old.size).toBe(2);
    expect(await textOf(await send(transport, url))).toBe('ok');
    expect(bodies).toHaveLength(4);
  });

  test('fails the request if its replacement closes too', async () => {
    const { transport, url, bodies } = await closing((response) => response.socket?.destroy());
    await expect(send(transport, url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(bodies).toHaveLength(3);
  });

  test('does not repeat a request after the first byte of its response', async () => {
    const { transport, url, bodies } = await closing((response) => {
      response.socket?.write('HTTP/1.1 2');
      setImmediate(() => response.socket?.destroy());
    });
    await expect(send(transport, url)).rejects.toThrow();
    expect(bodies).toHaveLength(2);
  });

  test('a request that breaks on a new connection is not sent again', async () => {
    const { url, bodies } = await serve((_, response) => response.socket?.destroy());
    await expect(send(nodeTransport(), url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(bodies).toHaveLength(1);
  });
});

test('an idle connection does not keep the process alive', async () => {
  const { url } = await serve((_, response) => response.end('ok'));
  const module = fileURLToPath(new URL('../../src/node/transport.ts', import.meta.url));
  const program = `
    const { nodeTransport } = await import(${JSON.stringify(module)});
    const signal = new AbortController().signal;
    const response = await nodeTransport()({ url: ${JSON.stringify(url)}, headers: {}, body: [], signal });
    await response.read(() => {});
    console.log('read');`;
  const arguments_ = [
    '--conditions=@cobbler/source',
    '--no-warnings',
    '--input-type=module',
    '--eval',
    program,
  ];
  // The server would keep the connection open for a minute.
  const { stdout } = await promisify(execFile)(process.execPath, arguments_, { timeout: 50_000 });
  expect(stdout).toBe('read\n');
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const knowsProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

test.skipIf(!knowsProxies)(
  'the Node transport uses a proxy from the environment (needs Node 22.21 or 24.5)',
  async () => {
    const proxy = await serve((request, response) => response.end(`by way of ${request.url}`));
    vi.stubEnv('http_proxy', proxy.url);
    vi.stubEnv('no_proxy', '');
    const response = await send(nodeTransport(), 'http://plain.invalid/v1');
    expect(await textOf(response)).toBe('by way of http://plain.invalid/v1');
  },
);

test('all agents on Node share one connection pool', () => {
  expect(defaultTransport(systemRuntime)).toBe(defaultTransport(systemRuntime));
});

test('an agent streams over the Node transport and keeps its connection [S0.19]', async () => {
  const { url, connections } = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const line of textAnswer('Hello').split(/(?<=\n)/)) response.write(line);
    response.end();
  });
  const wire = plainWire({ endpoint: { url, headers: {} } });
  const agent = createAgent(wire, { model: 'plain-1', capabilities: able, transport: nodeTransport() });
  const request = { messages: [userMessage('x')], tools: [] };
  expect((await agent.run(request)).content).toBe('Hello');
  expect((await agent.run(request)).content).toBe('Hello');
  expect(connections).toHaveLength(1);
});

test('the error of a refused connection names the host', async () => {
  const wire = plainWire({ endpoint: { url: 'http://127.0.0.1:1/v1', headers: {} } });
  const agent = createAgent(wire, { model: 'plain-1', capabilities: able, retry: { retries: 0 } });
  const run = agent.run({ messages: [userMessage('x')], tools: [] });
  await expect(run).rejects.toMatchObject({
    kind: 'network',
    message: 'Connecting to 127.0.0.1:1 failed: the connection was refused.',
  });
});

describe('the fetch transport', () => {
  const url = 'https://plain.test/v1';

  test('sends one body, follows no redirect and reads chunk by chunk', async () => {
    const fetch = vi.fn(
      async () => new Response(new Blob(['a', 'b']), { status: 202, headers: { 'X-A': '1' } }),
    );
    const response = await send(fetchTransport(fetch), url, {
      body: ['{"a"', ':1}'],
      headers: { 'x-key': 'k' },
    });
    expect(response).toMatchObject({ status: 202, headerNames: ['x-a'] });
    expect(response.header('x-a')).toBe('1');
    expect(await textOf(response)).toBe('ab');
    expect(fetch).toHaveBeenCalledWith(
      url,
      expect.objectContaining({
        method: 'POST',
        redirect: 'manual',
        headers: { 'x-key': 'k' },
        body: new TextEncoder().encode('{"a":1}'),
      }),
    );
  });

  test('returns an empty body for a response without one', async () => {
    expect(
      await textOf(
        await send(
          fetchTransport(async () => new Response(null, { status: 204 })),
          url,
        ),
      ),
    ).toBe('');
  });

  test('cancels the body on close', async () => {
    const cancel = vi.fn();
    const body = new ReadableStream({ cancel });
    (
      await send(
        fetchTransport(async () => new Response(body)),
        url,
      )
    ).close();
    expect(cancel).toHaveBeenCalled();
  });

  test('rejects a redirect that the browser hides', async () => {
    const hidden = Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' });
    await expect(
      send(
        fetchTransport(async () => hidden),
        url,
      ),
    ).rejects.toMatchObject({ kind: 'invalid', code: 'redirect' });
  });
});
