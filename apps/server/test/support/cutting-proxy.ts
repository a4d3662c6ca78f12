import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Returns the position in a chunk of an event stream at which to cut it, or `undefined`. */
export type Cut = (sent: Buffer, soFar: number) => number | undefined;

/** A proxy between a client and a server that breaks only connections with event streams. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<Socket>();
  cuts = 0;
  url = '';

  /** @param cut is called for every chunk that the server sends on a stream. */
  constructor(target: string, cut: Cut) {
    const { hostname, port } = new URL(target);
    this.#server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      const end = () => {
        client.destroy();
        upstream.destroy();
        this.#sockets.delete(client);
        this.#streams.delete(client);
      };
      this.#sockets.add(client);
      for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
      let isStream = false;
      let soFar = 0;
      client.on('data', (bytes: Buffer) => {
        if (/^GET [^ ]*events/.test(bytes.toString('latin1', 0, 200))) isStream = true;
        upstream.write(bytes);
      });
      upstream.on('data', (bytes: Buffer) => {
        if (isStream) this.#streams.add(client);
        const at = isStream ? cut(bytes, soFar) : undefined;
        soFar += bytes.length;
        if (at === undefined) return void client.write(bytes);
        this.cuts += 1;
        client.write(bytes.subarray(0, at), end);
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of event streams on which the server has sent data and that are still open. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Breaks all event streams and returns their number. */
  breakStreams(): number {
    const { size } = this.#streams;
    for (const socket of this.#streams) socket.resetAndDestroy();
    this.#streams.clear();
    this.cuts += size;
    return size;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
