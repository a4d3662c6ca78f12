import { systemRuntime } from '@cobbler/agent';

/**
 * Bytes that are really held in this process: those in use after everything unused was thrown away. Needs
 * Node, whose collector is reached the way its own tests do it.
 */
export async function heldBytes(): Promise<number> {
  const [{ setFlagsFromString }, { runInNewContext }, { memoryUsage }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
    import('node:process'),
  ]);
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Buffers are given back by the collection after the one that found them unused.
  for (let round = 0; round < 2; round += 1) {
    if (typeof collect === 'function') collect();
    await new Promise((resolve) => systemRuntime.timer(0, () => resolve(undefined)));
  }
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}
