/** What appending at once cost, for one event. Times of CPU in microseconds, waits in milliseconds. */
export interface AppendFigures {
  readonly floorCpu: number;
  readonly storeCpu: number;
  /** From the call of `append` until it is done. */
  readonly waits: { readonly p50: number; readonly p99: number; readonly most: number };
}

/** What a turn of the loop cost over two stores, in microseconds of CPU. */
export interface TurnFigures {
  readonly memory: { readonly best: number; readonly median: number };
  readonly sqlite: { readonly best: number; readonly median: number };
}

/** What it took to open a long session, in milliseconds, and what that left in memory, in bytes. */
export interface OpeningFigures {
  readonly events: number;
  readonly snapshotMs: number;
  readonly wholeMs: number;
  readonly heapBytes: number;
  /** The messages of the session as JSON. */
  readonly messageBytes: number;
}

/** CPU time of this process so far, all threads, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
