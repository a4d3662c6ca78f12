import { createServer } from 'node:net';

/**
 * A port to come back to. Systems hand out ports from 32768 on, so that one below stays free while nobody listens on it;
 * each process looks for it at a place of its own.
 */
export async function ownPort(): Promise<number> {
  for (let port = 20_000 + ((process.pid * 16) % 12_000); port < 32_768; port += 1)
    if (await isFree(port)) return port;
  throw new Error('Every port is taken.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
