import type { Entrant, Sample } from './round.ts';
import type { Work } from './work.ts';
import { coldBudget, growthBudget } from './work.ts';

/** One line of the result: what one entrant needed for one work. */
export interface Row {
  readonly work: string;
  readonly entrant: Entrant;
  /** CPU time for one turn or for the work, or the time of a start; in milliseconds. */
  readonly ms: number;
  /** As a multiple of the floor, measured in the same rounds. */
  readonly timesFloor: number | undefined;
  /** Median of the largest resident memory, in megabytes of 10^6 bytes. */
  readonly megabytes: number | undefined;
  /** Median time by the clock on the wall, per turn or for the work, in milliseconds. */
  readonly wallMs: number | undefined;
  /** Bytes sent per turn. */
  readonly sentBytes: number;
  readonly verdicts: readonly Verdict[];
}

/** A budget and whether it was kept. */
export interface Verdict {
  readonly bound: string;
  readonly kept: boolean;
}

/** The rows of one work, from all samples of it. */
export function rowsOf(work: Work, samples: readonly Sample[]): Row[] {
  const floor = samples.filter(({ entrant }) => entrant === 'floor');
  return entrantsOf(samples).map((entrant) => {
    const own = samples.filter((sample) => sample.entrant === entrant);
    const timesFloor = ratio(work, own, floor);
    const megabytes = median(own.map(({ done }) => (done?.peakBytes ?? 0) / 1e6));
    return {
      work: work.name,
      entrant,
      ms: judged(
        work,
        own.map((sample) => cost(work, sample)),
      ),
      timesFloor,
      megabytes,
      wallMs: median(own.map(({ done }) => (done?.wallMs ?? 0) / parts(work))),
      sentBytes: sentPerTurn(own),
      verdicts: entrant === 'cobbler' ? verdictsOf(work, timesFloor, megabytes) : [],
    };
  });
}

/** The rows of the starts. */
export function startRows(samples: readonly Sample[]): Row[] {
  const rows = entrantsOf(samples).map((entrant): Row => {
    const own = samples.filter((sample) => sample.entrant === entrant);
    return {
      work: 'cold',
      entrant,
      ms: median(startTimes(own)),
      timesFloor:
        median(startTimes(own)) / median(startTimes(samples.filter((one) => one.entrant === 'floor'))),
      megabytes: undefined,
      wallMs: undefined,
      sentBytes: sentPerTurn(own),
      verdicts: [],
    };
  });
  const reference = rows.find(({ entrant }) => entrant === 'floor-with-sdk')?.timesFloor;
  return rows.map((row) => ({ ...row, verdicts: startVerdicts(row, reference) }));
}

/** What a turn of the long loop costs, as a multiple of one of the short loop, by entrant. */
export function growthOf(
  short: { readonly work: Work; readonly samples: readonly Sample[] },
  long: { readonly work: Work; readonly samples: readonly Sample[] },
): { readonly entrant: Entrant; readonly growth: number; readonly verdicts: readonly Verdict[] }[] {
  return entrantsOf(long.samples).map((entrant) => {
    const growths = long.samples
      .filter((sample) => sample.entrant === entrant)
      .flatMap((sample) => {
        const before = short.samples.find(
          (other) => other.entrant === entrant && other.round === sample.round,
        );
        return before === undefined ? [] : [cost(long.work, sample) / cost(short.work, before)];
      });
    const growth = median(growths);
    const bound = `<= ${growthBudget.toFixed(2)}`;
    return {
      entrant,
      growth,
      verdicts: entrant === 'cobbler' ? [{ bound, kept: growth <= growthBudget }] : [],
    };
  });
}

function verdictsOf({ budget }: Work, timesFloor: number, megabytes: number): Verdict[] {
  const verdicts: Verdict[] = [];
  if (budget.timesFloor !== undefined) {
    verdicts.push({ bound: `<= ${budget.timesFloor} x floor`, kept: timesFloor <= budget.timesFloor });
  }
  if (budget.megabytes !== undefined) {
    verdicts.push({ bound: `<= ${budget.megabytes} MB`, kept: megabytes <= budget.megabytes });
  }
  return verdicts;
}

function startVerdicts({ entrant, timesFloor = Number.NaN }: Row, withSdk: number | undefined): Verdict[] {
  const { cliTimesFloor, overFloorWithSdk } = coldBudget;
  if (entrant === 'cobbler-cli') {
    return [{ bound: `<= ${cliTimesFloor} x floor`, kept: timesFloor <= cliTimesFloor }];
  }
  if (entrant !== 'cobbler' || withSdk === undefined) return [];
  const bound = `<= floor-with-sdk + ${overFloorWithSdk} x floor`;
  return [{ bound, kept: timesFloor <= withSdk + overFloorWithSdk }];
}

/** The best of all rounds against the floor's best, or the median of the ratios of each round. */
function ratio(work: Work, own: readonly Sample[], floor: readonly Sample[]): number {
  if (work.judgedBy === 'best') {
    return Math.min(...own.map((one) => cost(work, one))) / Math.min(...floor.map((one) => cost(work, one)));
  }
  return median(
    own.flatMap((sample) => {
      const beside = floor.find(({ round }) => round === sample.round);
      return beside === undefined ? [] : [cost(work, sample) / cost(work, beside)];
    }),
  );
}

/** CPU milliseconds of one turn, or of the whole work. */
function cost(work: Work, { done }: Sample): number {
  return (done?.cpuMs ?? Number.NaN) / parts(work);
}

function parts(work: Work): number {
  return work.per === 'turn' ? work.runs * work.script.turns : 1;
}

function judged(work: Work, values: readonly number[]): number {
  return work.judgedBy === 'best' ? Math.min(...values) : median(values);
}

function startTimes(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]));
}

function sentPerTurn(samples: readonly Sample[]): number {
  return median(samples.map(({ sentBytes, requests }) => sentBytes / requests));
}

function entrantsOf(samples: readonly Sample[]): Entrant[] {
  return [...new Set(samples.map(({ entrant }) => entrant))];
}

/** The middle value; of an even number of values the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}
