/** The resources of a server at the end of a minute; memory in bytes after a full garbage collection. */
export interface Moment {
  readonly minute: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** The target of each open descriptor. */
  readonly descriptors: readonly string[];
  /** CPU time since the start, in milliseconds. */
  readonly cpuMs: number;
  /** The errors found. */
  readonly faults: string[];
}

/** The minute after which nothing may grow: before it, code is compiled and caches fill. */
export const firstMinute = 10;

/** Maximum growth of memory after that, as a factor. */
const most = 1.05;

/** Number of minutes for each median: those up to minute 10 and the last ones. */
const span = 5;

/** Returns one line of the log. */
export function momentText(moment: Moment | undefined, counts: ReadonlyMap<string, number>): string {
  if (moment === undefined) return '';
  const { minute, rss, heapUsed, external, descriptors, cpuMs } = moment;
  const done = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [
    `minute ${String(minute).padStart(3)}`,
    `rss ${mega(rss)}`,
    `heap ${mega(heapUsed)}`,
    `external ${mega(external)}`,
    `descriptors ${descriptors.length}`,
    `cpu ${(cpuMs / 1000).toFixed(0)} s`,
    `done ${done}`,
  ].join('  ');
}

/** Returns whether nothing grew, with the numbers. */
export function verdictOf(moments: readonly Moment[]): {
  readonly lines: readonly string[];
  readonly isKept: boolean;
} {
  const early = moments.filter(({ minute }) => minute > firstMinute - span && minute <= firstMinute);
  const late = moments.slice(-span);
  const rss = grown('rss', early, late, ({ rss: value }) => value);
  const heap = grown('heap', early, late, ({ heapUsed }) => heapUsed);
  const [before, after] = [early.at(-1)?.descriptors ?? [], late.at(-1)?.descriptors ?? []];
  const isSame = before.length === after.length;
  const faults = moments.reduce((sum, moment) => sum + moment.faults.length, 0);
  return {
    isKept: rss.isKept && heap.isKept && isSame && faults === 0,
    lines: [
      rss.line,
      heap.line,
      `descriptors: ${before.length} at minute ${firstMinute}, ${after.length} at the end; ${kept(isSame)}: the same`,
      ...(isSame ? [] : [`  before: ${kindsOf(before)}`, `  after: ${kindsOf(after)}`]),
      `wrong responses and warnings: ${faults}; ${kept(faults === 0)}: none`,
    ],
  };
}

function grown(
  name: string,
  early: readonly Moment[],
  late: readonly Moment[],
  value: (moment: Moment) => number,
) {
  const [before, after] = [median(early.map(value)), median(late.map(value))];
  const isKept = after <= before * most;
  const minutes = (moments: readonly Moment[]) => `${moments[0]?.minute} to ${moments.at(-1)?.minute}`;
  const line =
    `${name}: median of minutes ${minutes(early)} ${mega(before)}, of minutes ${minutes(late)} ${mega(after)}, ` +
    `x ${(after / before).toFixed(3)}; ${kept(isKept)}: at most x ${most}`;
  return { line, isKept };
}

function kindsOf(descriptors: readonly string[]): string {
  const kinds = Map.groupBy(descriptors, (path) => path.replace(/\[\d+\]/, ''));
  return [...kinds].map(([kind, all]) => `${all.length} x ${kind}`).join(', ');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function mega(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function kept(isKept: boolean): string {
  return isKept ? 'met' : 'NOT MET';
}
