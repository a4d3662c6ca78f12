import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serveWebhook } from '../../src/assistant/webhook-endpoint.ts';

test('a sender whose update is too large receives 413 before it has sent all of it, and can send the rest', async () => {
  const endpoint = await serveWebhook({
    host: '127.0.0.1',
    port: 0,
    path: '/telegram',
    secret: 'secret',
    onUpdate: () => Promise.resolve(),
    onRefused: () => undefined,
  });
  onTestFinished(() => endpoint.close());
  const body = Buffer.alloc(4 * 1_048_576, 'x');
  const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  const head = (length: number) =>
    `POST /telegram HTTP/1.1\r\nhost: localhost\r\nx-telegram-bot-api-secret-token: secret\r\ncontent-length: ${length}\r\n\r\n`;
  socket.write(head(body.length));
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 413 /);
  // `once` rejects with EPIPE or ECONNRESET if the endpoint has closed the connection.
  if (!socket.write(body)) await once(socket, 'drain');
  socket.write(`${head(2)}{}`);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
});
