import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A TCP proxy to a server, with connections that a test can cut. */
export interface Proxy {
  readonly port: number;
  /** Number of connections that were refused after `cut`. */
  readonly refusals: number;
  /** Cuts all connections, and refuses new connections until `mend`. */
  cut(): void;
  mend(): void;
  /** Cuts all connections instead of forwarding the next response that contains `needle`. */
  cutAtAnswer(needle: string): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let refusals = 0;
  let needle: string | undefined;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (isCut) {
      refusals += 1;
      return void client.destroy();
    }
    const behind = connect(target, '127.0.0.1');
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        behind.destroy();
      });
    }
    client.pipe(behind);
    behind.on('data', (bytes) => {
      if (needle === undefined || !bytes.includes(needle)) return void client.write(bytes);
      needle = undefined;
      cut();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get refusals() {
      return refusals;
    },
    cut() {
      isCut = true;
      cut();
    },
    mend() {
      isCut = false;
    },
    cutAtAnswer(text) {
      needle = text;
    },
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
