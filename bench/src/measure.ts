import type { Bench, Entrant, Place, Sample } from './round.ts';
import { sample, sampleStart, sampleWaiting, startOnce } from './round.ts';
import { digits } from './summary.ts';
import type { WorkName } from './work.ts';
import { workNamed } from './work.ts';

/** The measurements to perform. */
export interface Plan {
  readonly works: readonly WorkName[];
  readonly rounds: number;
  /** True to also measure the other libraries. */
  readonly peers: boolean;
  /** Called after each measurement. */
  readonly tell: (line: string) => void;
}

/**
 * Performs all rounds. Within a round, all entrants perform each workload directly one after another. The order
 * rotates every round, so that external load affects all of them equally.
 */
export async function measure(bench: Bench, plan: Plan): Promise<Sample[]> {
  const samples: Sample[] = [];
  if (plan.works.includes('cold') && bench.cli !== undefined) await startOnce(bench);
  for (const { work, round } of scheduleOf(plan)) {
    const entrants = entrantsFor(work, plan, bench.cli !== undefined);
    const first = (round - 1) % entrants.length;
    for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      const taken = await take(bench, { work, round, entrant });
      plan.tell(`${work}, round ${round}: ${entrant} ${summed(taken)}`);
      samples.push(taken);
    }
  }
  return samples;
}

/** Yields the measurements in order. A start is short and measured in wall-clock time, so each round has three. */
function* scheduleOf({ works, rounds }: Plan): Generator<{ work: WorkName; round: number }> {
  for (let round = 0; round < rounds; round += 1) {
    for (const work of works.filter((name) => name !== 'size')) {
      const times = work === 'cold' ? 3 : 1;
      for (let time = 1; time <= times; time += 1) yield { work, round: round * times + time };
    }
  }
}

function take(bench: Bench, place: Place): Promise<Sample> {
  if (place.work === 'waiting') return sampleWaiting(bench, place);
  const work = workNamed(place.work);
  return work === undefined ? sampleStart(bench, place) : sample(bench, work, place);
}

/** Returns the entrants of a workload. */
export function entrantsFor(work: WorkName, { peers }: Pick<Plan, 'peers'>, hasCli: boolean): Entrant[] {
  const others: Entrant[] = peers ? ['anthropic-sdk', 'ai-sdk'] : [];
  if (work === 'size') return [...others, 'cobbler-and-sdk', 'cobbler'];
  if (work !== 'cold') return ['floor', ...others, 'cobbler'];
  const clis: Entrant[] = hasCli ? ['cobbler-cli', 'cobbler-cli-first'] : [];
  return ['floor-with-sdk', 'floor', ...others, 'cobbler', ...clis];
}

function summed({ cost, heapBytes, startMs = Number.NaN }: Sample): string {
  if (heapBytes !== undefined) return `${digits(heapBytes / 1000)} KB of heap for each waiting run`;
  if (cost === undefined) return `${digits(startMs)} ms to the first request`;
  const megabytes = (cost.peakBytes / 1e6).toFixed(0);
  return `${digits(cost.cpuMs)} ms CPU, ${digits(cost.wallMs)} ms, ${megabytes} MB`;
}
