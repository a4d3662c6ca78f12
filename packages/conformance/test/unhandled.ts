import { afterAll, beforeAll } from 'vitest';

/**
 * Records unhandled rejections while the tests of a file run. The returned function waits for a turn of the event loop,
 * in which Node reports them, and returns those since its last call.
 */
export function recordUnhandled(): () => Promise<readonly unknown[]> {
  const rejected: unknown[] = [];
  const note = (reason: unknown) => void rejected.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return rejected.splice(0);
  };
}
