import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Distributes connections over processes, like a load balancer. */
export interface Balancer {
  readonly url: string;
  /** Number of connections that the process at each port has received. */
  readonly given: ReadonlyMap<number, number>;
  close(): Promise<void>;
}

/** @param ports on which processes listen, now or later; a port without a process is skipped. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const given = new Map(ports.map((port) => [port, 0]));
  const sockets = new Set<Socket>();
  let turn = 0;
  const front = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.on('close', () => sockets.delete(client));
    turn += 1;
    const first = turn % ports.length;
    join(client, [...ports.slice(first), ...ports.slice(0, first)]);
  });
  /** Connects the client to the first port that accepts. */
  const join = (client: Socket, [port, ...others]: readonly number[]): void => {
    if (port === undefined) return void client.destroy();
    const server = connect(port, '127.0.0.1');
    sockets.add(server);
    let isJoined = false;
    server.on('close', () => {
      sockets.delete(server);
      if (isJoined) client.destroy();
    });
    server.on('error', () => {
      if (!isJoined) join(client, others);
    });
    server.on('connect', () => {
      isJoined = true;
      given.set(port, (given.get(port) ?? 0) + 1);
      client.on('close', () => server.destroy());
      client.pipe(server);
      server.pipe(client);
    });
  };
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const address = front.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    given,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => front.close(() => resolve()));
    },
  };
}
