import { describe, expect, test, vi } from 'vitest';
import { httpServer } from './http-server.ts';
import { staged } from './stage.ts';

const stream = { 'content-type': 'text/event-stream' };

describe('a server over streamable HTTP', () => {
  test('receives its headers with variables filled in, and a DELETE request on close', async () => {
    const server = await httpServer('the-secret-token');
    const web = { url: server.url, headers: { authorization: 'Bearer ${WEB_TOKEN}' } };
    const { mcp, call } = await staged({ web }, { env: { WEB_TOKEN: 'the-secret-token' } });
    expect(mcp.servers[0]).toMatchObject({ identity: 'web 2', tools: 1 });
    expect((await call('echo', { a: 1 })).text).toBe('{"a":1}');
    await mcp.close();
    expect(server.requests.at(-1)).toBe('DELETE');
  });

  test('that rejects the credentials is reported by its status, without the key [P19]', async () => {
    const server = await httpServer('the-secret-token');
    const web = { url: server.url, headers: { authorization: 'Bearer wrong-secret-token' } };
    const { mcp } = await staged({ web });
    expect(mcp.servers[0]?.problem).toBe('The MCP server web is not ready: it responded with HTTP 401.');
  });

  test('that cannot be reached is reported', async () => {
    // The system never assigns this port automatically.
    const { mcp } = await staged({ web: { url: 'http://127.0.0.1:2/mcp' } });
    expect(mcp.servers[0]?.problem).toBe(
      'The MCP server web is not ready: it cannot be reached (ECONNREFUSED).',
    );
  });

  test('that has forgotten the session gets the rejected call again in a new session', async () => {
    const server = await httpServer();
    const { call } = await staged({ web: { url: server.url } });
    server.forget();
    expect((await call('echo', { b: 2 })).text).toBe('{"b":2}');
    expect(server.requests.filter((line) => line === 'POST initialize')).toHaveLength(2);
    expect(server.requests.filter((line) => line === 'POST tools/call')).toHaveLength(2);
  });

  test('that disconnects during a call: the call fails and is not repeated [P9]', async () => {
    const server = await httpServer();
    const { call } = await staged({ web: { url: server.url } });
    server.next((_, response) => {
      response.writeHead(200, stream).write(': \n\n');
      setImmediate(() => response.destroy());
    });
    const failure = await call('echo').catch((error: Error) => error.message);
    expect(failure).toBe(
      'The MCP server web failed: it cut the connection. It is unknown whether the call took effect.',
    );
    expect(server.requests.filter((line) => line === 'POST tools/call')).toHaveLength(1);
    expect((await call('echo', { c: 3 })).text).toBe('{"c":3}');
  });

  test('that sends an endless response is cut off [P10]', async () => {
    const server = await httpServer();
    const { call } = await staged({ web: { url: server.url } });
    let sent = 0;
    server.next((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        sent += 65_536;
        if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
      };
      response.on('drain', more);
      more();
    });
    const failure = await call('echo').catch((error: Error) => error.message);
    expect(failure).toContain('sent a message of more than 16 MiB');
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  test('is notified when a call is aborted [P3]', async () => {
    const server = await httpServer();
    const { call } = await staged({ web: { url: server.url } });
    server.next((_, response) => void response.writeHead(200, stream).write(': \n\n'));
    const stop = new AbortController();
    const slow = call('echo', {}, { signal: stop.signal });
    await vi.waitUntil(() => server.requests.includes('POST tools/call'), 10_000);
    stop.abort(new Error('enough'));
    await expect(slow).rejects.toThrow();
    await vi.waitUntil(() => server.requests.includes('POST notifications/cancelled'), 10_000);
  });
});
