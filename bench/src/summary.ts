import { defined } from '@cobbler/agent/values';
import type { Report } from './report.ts';
import type { Entrant, Sample } from './round.ts';
import type { Reached, Size } from './size.ts';
import type { Work } from './work.ts';
import { coldBudget, growthBudget, sizeBudget, waitingBudget, workNamed, workNames } from './work.ts';

/** One row of the result: the cost of one workload for one entrant. */
export interface Row {
  readonly work: string;
  readonly entrant: Entrant;
  /** CPU time of one turn or of the workload, the duration of a start, growth, heap, or compressed size. */
  readonly figure: number;
  readonly unit: 'ms' | 'x' | 'KB';
  /** Compressed code that is loaded later, in KB. */
  readonly later?: number;
  /** As a multiple of the floor, measured in the same rounds. */
  readonly timesFloor?: number;
  /** Median of the peak resident memory, in megabytes of 10^6 bytes. */
  readonly megabytes?: number;
  /** Median wall-clock time per turn or of the workload, in milliseconds. */
  readonly wallMs?: number;
  /** Bytes sent per turn, as counted by the server. */
  readonly sentBytes?: number;
  readonly verdicts: readonly Verdict[];
}

/** A budget and its result. */
export interface Verdict {
  readonly bound: string;
  /** The measured value in the terms of the bound. */
  readonly is: string;
  readonly kept: boolean;
}

/** Returns all rows of the measurements, in the order of the workloads. */
export function rowsIn({ samples, sizes, reached }: Report): Row[] {
  const of = (name: string) => samples.filter(({ work }) => work === name).sort(byRank);
  return workNames.flatMap((name): Row[] => {
    if (name === 'waiting') return waitingRows(of('waiting'));
    if (name === 'cold') return startRows(of('cold'));
    if (name === 'size') return sizeRows(sizes, reached);
    const work = workNamed(name);
    if (work === undefined) return [];
    return [...rowsOf(work, of(name)), ...(name === 't400' ? growthRows(of('t50'), of('t400')) : [])];
  });
}

/** Returns the budgets that were not met, each with its work. */
export function missedIn(rows: readonly Row[]): string[] {
  return rows.flatMap(({ work, entrant, verdicts }) =>
    verdicts.flatMap(({ bound, is, kept }) =>
      kept ? [] : [`${work}, ${entrant}: ${is}, but the budget is ${bound}`],
    ),
  );
}

const ranks: readonly Entrant[] = [
  'floor',
  'floor-with-sdk',
  'anthropic-sdk',
  'ai-sdk',
  'cobbler-and-sdk',
  'cobbler',
  'cobbler-cli',
  'cobbler-cli-first',
];

function byRank(left: Sample, right: Sample): number {
  return ranks.indexOf(left.entrant) - ranks.indexOf(right.entrant) || left.round - right.round;
}

/** Returns the rows of one workload from all its samples. */
export function rowsOf(work: Work, samples: readonly Sample[]): Row[] {
  const floor = samples.filter(({ entrant }) => entrant === 'floor');
  return entrantsOf(samples).map((entrant) => {
    const own = samples.filter((sample) => sample.entrant === entrant);
    const costs = own.map((sample) => cpuOf(work, sample));
    const timesFloor = ratio(work, own, floor);
    const peak = ({ cost }: Sample) => cost?.peakBytes ?? Number.NaN;
    return {
      work: work.name,
      entrant,
      figure: work.judgedBy === 'best' ? Math.min(...costs) : median(costs),
      unit: 'ms',
      timesFloor,
      megabytes: median(own.map(peak)) / 1e6,
      wallMs: median(own.map(({ cost }) => (cost?.wallMs ?? 0) / parts(work))),
      sentBytes: sentPerTurn(own),
      verdicts: entrant === 'cobbler' ? verdictsOf(work, timesFloor, ratioByRound(own, floor, peak)) : [],
    };
  });
}

function verdictsOf({ budget }: Work, timesFloor: number, memoryTimesFloor: number): Verdict[] {
  const verdicts: Verdict[] = [];
  if (budget.timesFloor !== undefined) verdicts.push(atMost(timesFloor, budget.timesFloor, 'x floor'));
  if (budget.memoryTimesFloor !== undefined)
    verdicts.push(atMost(memoryTimesFloor, budget.memoryTimesFloor, 'x floor memory'));
  return verdicts;
}

function atMost(value: number, bound: number, unit: string): Verdict {
  return { bound: `<= ${bound} ${unit}`, is: `${digits(value)} ${unit}`, kept: value <= bound };
}

/** Returns the rows of the waiting runs. */
export function waitingRows(samples: readonly Sample[]): Row[] {
  return comparedRows(samples, 'KB', ({ heapBytes = Number.NaN }) => heapBytes / 1000, {
    cobbler: waitingBudget,
  });
}

/** Returns the rows of the starts. */
export function startRows(samples: readonly Sample[]): Row[] {
  return comparedRows(samples, 'ms', ({ startMs = Number.NaN }) => startMs, {
    cobbler: coldBudget.library,
    'cobbler-cli': coldBudget.cli,
  });
}

/** Returns a row for each entrant: the median of a figure, and its budget as a multiple of the floor's figure. */
function comparedRows(
  samples: readonly Sample[],
  unit: Row['unit'],
  figure: (sample: Sample) => number,
  budgets: Readonly<Partial<Record<Entrant, number>>>,
): Row[] {
  const floor = samples.filter(({ entrant }) => entrant === 'floor');
  return entrantsOf(samples).map((entrant) => {
    const own = samples.filter((sample) => sample.entrant === entrant);
    const timesFloor = ratioByRound(own, floor, figure);
    const budget = budgets[entrant];
    return {
      work: own[0]?.work ?? '',
      entrant,
      figure: median(own.map(figure)),
      unit,
      timesFloor,
      ...defined({ sentBytes: unit === 'ms' ? sentPerTurn(own) : undefined }),
      verdicts: budget === undefined ? [] : [atMost(timesFloor, budget, 'x floor')],
    };
  });
}

/** Returns the cost of a turn in the long loop as a multiple of one in the short loop in the same round. */
export function growthRows(short: readonly Sample[], long: readonly Sample[]): Row[] {
  const [shortWork, longWork] = [workNamed('t50'), workNamed('t400')];
  if (shortWork === undefined || longWork === undefined || short.length === 0) return [];
  return entrantsOf(long).map((entrant) => {
    const growths = long
      .filter((sample) => sample.entrant === entrant)
      .flatMap((sample) => {
        const before = short.find((other) => other.entrant === entrant && other.round === sample.round);
        return before === undefined ? [] : [cpuOf(longWork, sample) / cpuOf(shortWork, before)];
      });
    const figure = median(growths);
    const verdicts = entrant === 'cobbler' ? [atMost(figure, growthBudget, 'x t50')] : [];
    return { work: 't400 to t50', entrant, figure, unit: 'x', verdicts };
  });
}

/**
 * Returns the rows of the sizes. The packages that the main entry of `@cobbler/agent` loads are part of Cobbler's
 * verdict.
 */
export function sizeRows(sizes: readonly Size[], reached: readonly Reached[]): Row[] {
  return [...sizes]
    .sort((left, right) => ranks.indexOf(left.entrant) - ranks.indexOf(right.entrant))
    .map(({ entrant, gzipBytes, laterBytes }) => ({
      work: 'size',
      entrant,
      figure: gzipBytes / 1000,
      unit: 'KB',
      ...(laterBytes > 0 && { later: laterBytes / 1000 }),
      verdicts:
        entrant === 'cobbler'
          ? [atMost(gzipBytes / 1000, sizeBudget.gzipBytes / 1000, 'KB'), reachVerdict(reached)]
          : [],
    }));
}

function reachVerdict(reached: readonly Reached[]): Verdict {
  const words = reached.map(({ name, lazily }) => (lazily ? `${name} lazily` : name));
  return {
    bound: 'agent loads zod only, and late',
    is: words.length === 0 ? 'agent loads nothing' : `agent loads ${words.join(', ')}`,
    kept: reached.every(({ name, lazily }) => name === 'zod' && lazily),
  };
}

/** Compares the best of all rounds with the floor's best, or returns the median of the ratios of each round. */
function ratio(work: Work, own: readonly Sample[], floor: readonly Sample[]): number {
  if (work.judgedBy === 'best') {
    return (
      Math.min(...own.map((one) => cpuOf(work, one))) / Math.min(...floor.map((one) => cpuOf(work, one)))
    );
  }
  return ratioByRound(own, floor, (sample) => cpuOf(work, sample));
}

/** Returns the median of the ratios of a figure to the floor's figure in the same round. */
function ratioByRound(
  own: readonly Sample[],
  floor: readonly Sample[],
  figure: (sample: Sample) => number,
): number {
  return median(
    own.flatMap((sample) => {
      const beside = floor.find(({ round }) => round === sample.round);
      return beside === undefined ? [] : [figure(sample) / figure(beside)];
    }),
  );
}

/** Returns the CPU milliseconds of one turn, or of the whole work. */
function cpuOf(work: Work, { cost }: Sample): number {
  return (cost?.cpuMs ?? Number.NaN) / parts(work);
}

function parts(work: Work): number {
  return work.per === 'turn' ? work.runs * work.script.turns : 1;
}

function sentPerTurn(samples: readonly Sample[]): number {
  return median(samples.map(({ sentBytes, requests }) => sentBytes / requests));
}

function entrantsOf(samples: readonly Sample[]): Entrant[] {
  return [...new Set(samples.map(({ entrant }) => entrant))];
}

/** Returns the median; the mean of the two middle values for an even number of values, NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/** Formats a number with three significant digits. */
export function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
