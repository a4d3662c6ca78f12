import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { EventStream } from '../../src/streams/event-stream.ts';

/** Opens a stream with more data than the buffers hold, to a client that does not read. */
async function stalledStream(): Promise<{ stream: EventStream; gone: Promise<void> }> {
  const gone = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<EventStream>();
  const bounds = { bufferBytes: Infinity, stallMs: 600_000, onDrop: () => undefined };
  const token = { id: 'tok_1', name: 'phone', scopes: [], createdAt: '2026-01-01T00:00:00Z' };
  const server = createServer((request, response) => {
    const start = { token, headers: {}, mayRead: () => true, text: 'x'.repeat(64 * 1024 * 1024) };
    opened.resolve(new EventStream(request, response, start, bounds, () => gone.resolve()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { stream: await opened.promise, gone: gone.promise };
}

test('a client that does not read cannot keep its stream open after its token ends', async () => {
  const { stream, gone } = await stalledStream();
  stream.check(new Set(['tok_1']), Date.now());
  expect(stream.closed).toBe(false);
  // The first check lets the client read the rest; the next one closes the connection.
  stream.check(new Set(), Date.now());
  expect(stream.closed).toBe(true);
  stream.check(new Set(), Date.now());
  await gone;
});
