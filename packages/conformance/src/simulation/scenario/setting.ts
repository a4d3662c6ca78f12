import type { Limits, Price } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Choices } from './choices.ts';
import type { Weather } from './weather.ts';

/** What stays the same through all of a simulation. */
export interface SimulationSetting {
  readonly weather: Weather;
  /** Whether a gate judges the calls, and whether somebody is there whom it can ask. */
  readonly gated: boolean;
  readonly attended: boolean;
  readonly toolErrors: 'continue' | 'stop-batch';
  readonly scheduling: 'parallel' | 'sequential';
  readonly limits: Limits & { readonly turns: number; readonly ms: number };
  readonly onLimit: 'return' | 'finalize';
  /** Compact above so many tokens. */
  readonly compactAbove: number | undefined;
  readonly summaryBy: 'function' | 'model';
  /** Put output of more bytes away. */
  readonly offloadAbove: number | undefined;
  /** How long a person may take to decide, by the wall clock. */
  readonly approvalMs: number | undefined;
  /** Whether the price of the model is known. */
  readonly priced: boolean;
  /** How an answer in a shape is asked for, if one is. */
  readonly output: 'native' | 'tool' | undefined;
}

/** How long the store may take, in milliseconds: longer than it ever does when all goes well. */
export const storeTimeoutMs = 2_000;

/** How long one model call may take, in milliseconds: the kit's own default. */
export const modelCallMs = 600_000;

/** What tokens cost, in US dollars per million. */
export const price: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

export function chooseSetting(choices: Choices): SimulationSetting {
  const tokens = choices.among<number | undefined>('limit on tokens', [
    [80, undefined],
    [10, 4_000],
    [5, 1_000],
    [5, 1],
  ]);
  const toolCalls = choices.among<number | undefined>('limit on calls', [
    [85, undefined],
    [10, 2],
    [5, 1],
  ]);
  const usd = choices.among<number | undefined>('limit on money', [
    [90, undefined],
    [7, 0.01],
    [3, 0.000_01],
  ]);
  const repeats = choices.among<number | undefined>('limit on repeats', [
    [50, undefined],
    [35, 2],
    [8, 0],
    [7, 1],
  ]);
  return {
    weather: choices.among<Weather>('weather', [
      [4, 'fair'],
      [4, 'mixed'],
      [2, 'foul'],
    ]),
    gated: choices.whether('gated', 0.4),
    attended: choices.whether('attended', 0.5),
    toolErrors: choices.pick('tool errors', ['continue', 'stop-batch']),
    scheduling: choices.among('scheduling', [
      [3, 'parallel'],
      [1, 'sequential'],
    ]),
    limits: {
      turns: choices.among('limit on turns', [
        [6, 6],
        [1, 1],
        [1, 2],
      ]),
      ms: choices.among('limit on time', [
        [8, 3_600_000],
        [1, 50],
        [1, 1_000],
        [1, 20_000],
      ]),
      ...defined({ tokens, usd, toolCalls, repeats }),
    },
    onLimit: choices.pick('on limit', ['return', 'finalize']),
    compactAbove: choices.among<number | undefined>('compact', [
      [7, undefined],
      [2, 500],
      [1, 1],
    ]),
    summaryBy: choices.pick('summary by', ['function', 'model']),
    offloadAbove: choices.among<number | undefined>('spill', [
      [6, undefined],
      [3, 1_000],
      [2, 260],
    ]),
    approvalMs: choices.pick('approvals expire', [undefined, undefined, 10_000]),
    priced: !choices.whether('unpriced', 0.2),
    output: choices.among<SimulationSetting['output']>('output', [
      [10, undefined],
      [1, 'native'],
      [1, 'tool'],
    ]),
  };
}
