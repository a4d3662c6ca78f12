import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Shares connections out over processes, as whatever stands in front of them outside of a test. */
export interface Balancer {
  readonly url: string;
  /** Connections that each process has been given so far. */
  readonly given: ReadonlyMap<string, number>;
  add(url: string): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const given = new Map<string, number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.on('close', () => sockets.delete(client));
    const urls = [...given.keys()];
    turn += 1;
    join(client, [...urls.slice(turn % urls.length), ...urls.slice(0, turn % urls.length)]);
  });
  /** The first that can be connected to. */
  const join = (client: Socket, [url, ...others]: readonly string[]): void => {
    if (url === undefined) return void client.destroy();
    const { hostname, port } = new URL(url);
    const server = connect(Number(port), hostname);
    sockets.add(server);
    server.on('close', () => {
      sockets.delete(server);
      if (isJoined) client.destroy();
    });
    let isJoined = false;
    server.on('error', () => {
      if (!isJoined) join(client, others);
    });
    server.on('connect', () => {
      isJoined = true;
      given.set(url, (given.get(url) ?? 0) + 1);
      client.on('close', () => server.destroy());
      client.pipe(server);
      server.pipe(client);
    });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    given,
    add: (url) => void given.set(url, given.get(url) ?? 0),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
