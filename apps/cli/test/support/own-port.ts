import { createServer } from 'node:net';

/**
 * Returns a free port that a test can use again. It is below 32768, because systems assign free
 * ports above that. Each process starts its search at a different port.
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
