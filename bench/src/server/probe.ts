// Loaded into a measured process with `--import`: says what it holds after its garbage was taken away, when its
// parent asks. The process itself stays what it is.

/** What a measured process holds, in bytes. */
export interface Held {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Warnings that Node gave, such as listeners that were never taken off. */
  readonly warnings: readonly string[];
}

const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') warnings.push(`${name}: ${message}`);
});
process.on('message', (asked) => {
  if (asked === 'held') void tell();
});
// To be asked is no reason to stay alive.
process.channel?.unref();

async function tell(): Promise<void> {
  // What is freed by one collection may free more once its callbacks have run.
  for (let time = 0; time < 3; time += 1) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external, warnings });
}
