import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import type { PromptShape, WorkShape } from './work.ts';
import { loop } from './work.ts';

const usual = { system: 6_000, tools: 10 };
const minutes = 60_000;

/** Workloads with an upper bound on the price of their input. */
export const works: readonly { readonly name: string; readonly shape: WorkShape; readonly most: number }[] = [
  {
    name: 'a loop of 50 turns',
    shape: { ...usual, prompts: [{ pauseMs: 0, turns: loop(50) }] },
    most: 0.142,
  },
  {
    name: 'twelve calls in each of 20 turns',
    shape: { ...usual, prompts: [{ pauseMs: 0, turns: loop(20, { calls: 12, result: 400 }) }] },
    most: 0.3,
  },
  {
    name: '50 turns, each 400 s after the one before',
    shape: { ...usual, prompts: [{ pauseMs: 0, turns: loop(50, { takesMs: 400_000 }) }] },
    most: 0.2,
  },
  {
    name: '50 prompts, each 400 s after the answer',
    shape: {
      ...usual,
      prompts: Array.from({ length: 50 }, () => ({ pauseMs: 400_000, turns: loop(1, { said: 1_500 }) })),
    },
    most: 0.2,
  },
  {
    name: 'bursts of 10 turns with 25 minutes between them',
    shape: {
      ...usual,
      prompts: Array.from({ length: 5 }, () => ({ pauseMs: 25 * minutes, turns: loop(10) })),
    },
    most: 0.3,
  },
];

/** Draws the delays of a random workload. */
type Habit = (random: SeededRandom) => number;

const habits: readonly Habit[] = [
  () => 0,
  (random) => random.between(1, 20) * 1_000,
  (random) => random.between(6, 25) * minutes,
  (random) => (random.chance(0.8) ? random.between(0, 60) * 1_000 : random.between(5, 55) * minutes),
  (random) => (random.chance(0.85) ? random.between(0, 10) * 1_000 : random.between(70, 600) * minutes),
];

/**
 * Returns a random workload for a seed. It has at least five requests, because the cache entries of one or two
 * requests may never be read.
 */
export function randomWork(seed: number): WorkShape {
  const random = seededRandom(seed);
  const habit = random.pick(habits);
  const size = random.pick([100, 400, 2_000]);
  const prompts: PromptShape[] = [];
  const wanted = random.between(5, 40);
  for (let requests = 0; requests < wanted; ) {
    const turns = random.between(1, Math.min(12, wanted));
    prompts.push({
      pauseMs: requests === 0 ? 0 : habit(random),
      turns: loop(turns, { said: random.between(0, 600) }).map((turn) => ({
        ...turn,
        calls: turn.calls === 0 ? 0 : random.chance(0.7) ? 1 : random.between(2, 30),
        said: turn.calls === 0 ? Math.max(1, turn.said) : turn.said,
        result: random.between(1, 2 * size),
        takesMs: random.chance(0.2) ? habit(random) : random.between(0, 5) * 1_000,
      })),
    });
    requests += turns;
  }
  return { system: random.between(0, 12_000), tools: random.between(1, 20), prompts };
}

/**
 * Workloads in which few or no cache entries are ever read: a single request looks the same as the first of many.
 * Every policy that saves money in the workloads above has a cost here.
 */
export const extremes: readonly {
  readonly name: string;
  readonly shape: WorkShape;
  readonly most: number;
}[] = [
  {
    name: 'one request',
    shape: { ...usual, prompts: [{ pauseMs: 0, turns: loop(1) }] },
    most: 1.25,
  },
  {
    name: 'two requests, 400 s apart',
    shape: {
      ...usual,
      prompts: [
        { pauseMs: 0, turns: loop(1) },
        { pauseMs: 400_000, turns: loop(1) },
      ],
    },
    most: 1.13,
  },
  {
    name: '20 prompts with three hours between them',
    shape: {
      ...usual,
      prompts: Array.from({ length: 20 }, () => ({ pauseMs: 180 * minutes, turns: loop(1) })),
    },
    most: 1.02,
  },
];
