/** The cost of concurrent appends per event: CPU times in microseconds, delays in milliseconds. */
export interface AppendFigures {
  readonly floorCpu: number;
  readonly storeCpu: number;
  /** From the call of `append` until it resolves. */
  readonly waits: { readonly p50: number; readonly p99: number; readonly most: number };
}

/** The cost of a loop turn with each of two stores, in microseconds of CPU time. */
export interface TurnFigures {
  readonly memory: { readonly best: number; readonly median: number };
  readonly sqlite: { readonly best: number; readonly median: number };
}

/** The cost of opening a long session: time in milliseconds, and remaining memory in bytes. */
export interface OpeningFigures {
  readonly events: number;
  readonly snapshotMs: number;
  readonly wholeMs: number;
  readonly heapBytes: number;
  /** Size of the session's messages as JSON. */
  readonly messageBytes: number;
}

/** Returns the CPU time of this process so far, all threads, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Returns the value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
