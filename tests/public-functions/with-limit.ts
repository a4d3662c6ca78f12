import { systemRuntime } from '@cobbler/agent';

/** Maximum time for which the calls of one place are awaited, in milliseconds. Some of them wait forever. */
const maxMs = 500;

/** Waits for a promise, but not forever. */
export async function withLimit<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  let stop = () => {};
  const limit = new Promise<undefined>((resolve) => {
    stop = systemRuntime.timer(maxMs, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    stop();
  }
}
