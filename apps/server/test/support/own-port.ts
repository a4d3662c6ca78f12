import { createServer } from 'node:net';

/**
 * Returns a port that can be used again after a restart. Systems assign ports from 32768, so a lower
 * one stays free while no process listens on it. Each process starts its search at another port.
 */
export async function ownPort(): Promise<number> {
  for (let port = 20_000 + ((process.pid * 16) % 12_000); port < 32_768; port += 1)
    if (await isFree(port)) return port;
  throw new Error('Every port is in use.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
