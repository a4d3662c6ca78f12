// Loaded into a measured process with `--import`: reports its memory after garbage collection when its parent
// requests it. The process is otherwise unchanged.

/** The memory of a measured process, in bytes. */
export interface Held {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Node warnings, such as listeners that were never removed. */
  readonly warnings: readonly string[];
}

const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') warnings.push(`${name}: ${message}`);
});
process.on('message', (asked) => {
  if (asked === 'held') void tell();
});
// The channel to the parent must not keep the process alive.
process.channel?.unref();

async function tell(): Promise<void> {
  // Callbacks of one collection may make more memory collectable.
  for (let time = 0; time < 3; time += 1) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external, warnings });
}
