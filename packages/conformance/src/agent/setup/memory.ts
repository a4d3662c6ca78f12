import { systemRuntime } from '@cobbler/agent';

/**
 * Returns the bytes in use in this process after a garbage collection. Needs Node; the collector is exposed
 * as in Node's own tests.
 */
export async function heldBytes(): Promise<number> {
  const [{ setFlagsFromString }, { runInNewContext }, { memoryUsage }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
    import('node:process'),
  ]);
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Buffers are freed by the collection after the one that finds them unused.
  for (let round = 0; round < 2; round += 1) {
    if (typeof collect === 'function') collect();
    await new Promise((resolve) => systemRuntime.timer(0, () => resolve(undefined)));
  }
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}
