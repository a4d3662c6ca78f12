import { seededRandom } from '@cobbler/agent/testing';

/** Runs of a scenario, which share one limit. */
export const runsPerScenario = 8;

/** Maximum output tokens of a request. */
export const maxTokens = 400;

export const price = { input: 5, output: 25 } as const;

/** More than the maximum cost of a first request in US dollars, as a run reserves it. */
const worstUsd = (300 * price.input + maxTokens * price.output) / 1_000_000;

/** One scenario: its limit, and the requests at which the process is killed. */
export interface CrashPlan {
  /** In US dollars. */
  readonly limit: number;
  /** True if the limit has room for the first request of each run, also after each kill. */
  readonly isEnough: boolean;
  /** The numbers of the requests, in order, and whether the service has responded by then. */
  readonly kills: readonly { readonly at: number; readonly isAnswered: boolean }[];
}

/** Returns the plan of a scenario: every second limit is small. */
export function planOf(scenario: number): CrashPlan {
  const random = seededRandom(scenario);
  const kills = Array.from({ length: random.between(0, 2) }, () => {
    return { at: random.between(1, 18), isAnswered: random.chance(0.5) };
  }).sort((one, other) => one.at - other.at);
  const least = runsPerScenario * (1 + kills.length) * worstUsd;
  const isEnough = scenario % 2 === 0;
  return { limit: least * (isEnough ? 1 + 0.3 * random.next() : 0.1 + 0.8 * random.next()), isEnough, kills };
}
