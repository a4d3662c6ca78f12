// A process with many event readers, so that their cost is not counted as the server's.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { answerParent } from './child-talk.ts';

/** Number of concurrent connection attempts: fewer than a server's backlog. */
const atATime = 100;

const sockets: Socket[] = [];
let bytes = 0;

answerParent({
  /** Opens this many streams over plain sockets; responds when each has received its first frame. */
  open: async ({ url, token, paths, count }) => {
    const wanted = paths as readonly string[];
    for (let first = 0; first < Number(count); first += atATime) {
      const few = Math.min(atATime, Number(count) - first);
      const path = (index: number) => wanted[(first + index) % wanted.length] ?? '/';
      await Promise.all(
        Array.from({ length: few }, (_, index) => open(String(url), String(token), path(index))),
      );
    }
  },
  /** Returns the number of bytes received since the last call. */
  bytes: () => {
    const all = bytes;
    bytes = 0;
    return all;
  },
  close: () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  },
});

function open(url: string, token: string, path: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let seen = '';
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', reject);
    const head = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}`;
    socket.write(`${head}\r\naccept: text/event-stream\r\nuser-agent: bench\r\n\r\n`);
    const onFirst = (chunk: Buffer) => {
      seen += chunk.toString();
      if (!/\r\n\r\n[\s\S]*\n\n/.test(seen)) return;
      socket.off('data', onFirst);
      socket.on('data', ({ length }) => {
        bytes += length;
      });
      resolve();
    };
    socket.on('data', onFirst);
  });
}

process.send?.('ready');
