import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Subject } from './subject.ts';
import { frameText } from './subject.ts';

/** The start of a stream, as sent by the Cobbler server. */
const head = {
  'x-request-id': '01234567-89ab-cdef-0123-456789abcdef',
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

/**
 * Starts the minimum that serves events: node:http alone, without tokens, a log, positions or limits. It sends the
 * same headers and the same bytes, created once and written to every response.
 */
export async function startRaw(): Promise<Subject> {
  const clients = new Set<ServerResponse>();
  const server = createServer((_request, response) => {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, head);
    response.flushHeaders();
    response.write(hello);
    clients.add(response);
    response.on('close', () => clients.delete(response));
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token: 'cbk_0123456789012345678901234567890123456789012',
    path: '/v1/sessions/watched/events',
    tell() {
      const data = JSON.stringify({ type: 'text_delta', index: 0, text: frameText });
      const frame = Buffer.from(`data: ${data}\n\n`);
      for (const client of clients) client.write(frame);
    },
  };
}

const hello =
  'retry: 1000\ndata: {"type":"hello","v":1,"sessionId":"watched","heartbeatMs":15000,"after":0,"events":4,"runId":null}\n\n';
