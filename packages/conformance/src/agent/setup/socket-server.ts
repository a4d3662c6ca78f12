import type { Socket } from 'node:net';

/** State of the connection after the response bytes are written. */
export type SocketEnding = 'keep' | 'end' | 'reset';

/** A response as raw bytes, including status line and headers, for content that no HTTP server would send. */
export interface SocketResponse {
  /** The chunks to write. Iterated lazily, so they may be endless. */
  readonly bytes: Iterable<string | Uint8Array>;
  /** Default `keep`: the connection stays open for another request. */
  readonly ending?: SocketEnding;
  /** True to respond when the request headers have arrived, before the body. */
  readonly early?: boolean;
  /** True to read nothing of the request body, so that the client cannot finish sending. */
  readonly deaf?: boolean;
}

/** A received request. */
export interface SocketRequest {
  /** Index of its connection, counted from 0. */
  readonly connection: number;
  /** The request line and headers. */
  readonly head: string;
  /** Resolves when the client has closed or broken the connection. */
  readonly left: Promise<void>;
}

/** A server that responds with raw bytes. */
export interface SocketServer {
  readonly url: string;
  readonly requests: readonly SocketRequest[];
  /** Resolves with the request of this index when its headers have arrived. */
  arrival(index: number): Promise<SocketRequest>;
  /** Closes the port and all connections. */
  close(): Promise<void>;
}

/**
 * Responds to requests with the given bytes, in order, and closes the connection of any further request.
 * Needs Node.
 *
 * @param host an address of this machine. Default 127.0.0.1.
 */
export async function serveSocket(
  answers: readonly SocketResponse[],
  host: string = '127.0.0.1',
): Promise<SocketServer> {
  const { createServer } = await import('node:net');
  const requests: SocketRequest[] = [];
  const waiting = new Map<number, (request: SocketRequest) => void>();
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const connection = connections++;
    const left = gone(socket);
    readRequests(socket, (head) => {
      const index = requests.length;
      const request: SocketRequest = { connection, head, left };
      requests.push(request);
      waiting.get(index)?.(request);
      return answers[index];
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    arrival(index) {
      const known = requests[index];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => waiting.set(index, resolve));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function gone(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) socket.on(event, () => resolve());
  });
}

/** Reads consecutive requests whose bodies have a known length. */
function readRequests(socket: Socket, next: (head: string) => SocketResponse | undefined): void {
  let text = '';
  let bodyLeft = 0;
  let answer: SocketResponse | undefined;
  const reply = () => {
    const due = answer;
    answer = undefined;
    if (due !== undefined) void write(socket, due);
  };
  // One character per byte, so lengths match the bytes received.
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    for (;;) {
      const taken = Math.min(bodyLeft, text.length);
      bodyLeft -= taken;
      text = text.slice(taken);
      if (bodyLeft > 0) return;
      reply();
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      // Closed by the server: later data is lost and must not count as received.
      if (socket.writableEnded) return void socket.resetAndDestroy();
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      bodyLeft = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      answer = next(head);
      if (answer === undefined) return void socket.destroy();
      if (answer.deaf === true) return void socket.pause();
      if (answer.early === true) reply();
    }
  });
}

async function write(socket: Socket, { bytes, ending = 'keep' }: SocketResponse): Promise<void> {
  for (const chunk of bytes) {
    if (socket.destroyed) return;
    if (!socket.write(chunk)) await untilDrained(socket);
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}

function untilDrained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
