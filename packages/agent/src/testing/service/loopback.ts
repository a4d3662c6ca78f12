import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Handler } from './wire-server.ts';

/** A handler served on a local port. */
export interface Loopback {
  /** URL, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}

/**
 * Serves a handler on 127.0.0.1 and a free port. Requires Node, which is loaded only here. A handler that rejects or a
 * body that fails closes its connection abruptly; a client that disconnects aborts `request.signal` and cancels the
 * body.
 */
export async function serveLoopback(handler: Handler): Promise<Loopback> {
  const { createServer } = await import('node:http');
  // Idle connections stay open: if one were closed just as a client reuses it, a request would fail that the service
  // never saw.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => breakConnection(outgoing));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) left.abort();
  });
  outgoing.on('error', () => left.abort());
  const response = await handler(await toRequest(incoming, left.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  // Send the head immediately: a stalled body must not look like a missing head.
  outgoing.flushHeaders();
  if (response.body !== null) await copyBody(response.body, outgoing, left.signal);
  outgoing.end();
}

async function copyBody(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  left: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  left.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || left.aborted) return;
      if (!outgoing.write(value)) await untilDrained(outgoing, left);
    }
  } finally {
    left.removeEventListener('abort', cancel);
  }
}

function untilDrained(outgoing: ServerResponse, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      left.removeEventListener('abort', done);
      resolve();
    };
    outgoing.on('drain', done);
    left.addEventListener('abort', done);
  });
}

/** Closes the connection. Written data still arrives; the body has no end, so the client sees that it was cut off. */
function breakConnection(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  if (socket === null) return;
  if (outgoing.headersSent) socket.destroySoon();
  else socket.resetAndDestroy();
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const method = incoming.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(`http://${incoming.headers.host ?? '127.0.0.1'}${incoming.url ?? '/'}`, {
    method,
    headers,
    signal,
    ...(hasBody && { body: await new Blob(chunks as BlobPart[]).text() }),
  });
}
