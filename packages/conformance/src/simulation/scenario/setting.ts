import type { Limits, Price } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Choices } from './choices.ts';
import type { FaultRate } from './weather.ts';

/** The settings of a simulation, which never change. */
export interface SimulationSetting {
  readonly faultRate: FaultRate;
  /** True if a gate decides on calls, and true if a user is attached who can decide. */
  readonly gated: boolean;
  readonly attended: boolean;
  readonly toolErrors: 'continue' | 'stop-batch';
  readonly scheduling: 'parallel' | 'sequential';
  readonly limits: Limits & { readonly turns: number; readonly ms: number };
  readonly onLimit: 'return' | 'finalize';
  /** Compact above this many tokens. */
  readonly compactAbove: number | undefined;
  readonly summaryBy: 'function' | 'model';
  /** Offload output of more bytes than this. */
  readonly offloadAbove: number | undefined;
  /** The time that a user has to decide, by the wall clock. */
  readonly approvalMs: number | undefined;
  /** True if the price of the model is known. */
  readonly priced: boolean;
  /** The way structured output is requested; undefined if it is not. */
  readonly output: 'native' | 'tool' | undefined;
}

/** Timeout of the store in milliseconds, longer than any normal operation takes. */
export const storeTimeoutMs = 2_000;

/** Maximum duration of one model call in milliseconds: the default of `createAgent`. */
export const modelCallMs = 600_000;

/** The price of tokens, in US dollars per million. */
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
    faultRate: choices.among<FaultRate>('weather', [
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
      [2, 'native'],
      [2, 'tool'],
    ]),
  };
}
