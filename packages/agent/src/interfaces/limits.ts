import { AgentError } from '../values/errors.ts';
import type { LimitName, ReachedLimit } from '../values/stored-values.ts';
import type { Usage } from '../values/usage.ts';

export type { LimitName, ReachedLimit } from '../values/stored-values.ts';

/**
 * The limits of one run and of everything that it starts. An absent limit has the default given with it. Each run has
 * its own time limit; a tool that starts runs also passes on its signal.
 */
export interface Limits {
  /** Number of model responses, not counting a closing one. Default 10 for each run. */
  readonly turns?: number;
  /** Number of tool calls. Default: no limit. */
  readonly toolCalls?: number;
  /** Input and output tokens together, cached input included. Default: no limit. */
  readonly tokens?: number;
  /** Money in US dollars. Default: no limit. */
  readonly usd?: number;
  /**
   * Number of times in a row that a turn may make the same calls with the same arguments and get the same results
   * before the run ends with `no_progress`. Halfway there, the model is notified. Turns at least ten seconds apart
   * count as waiting and not as repeated. Default 6; 0 for no limit.
   */
  readonly repeats?: number;
  /** Time in milliseconds, not counting the time that users take to decide. Default 3,600,000. */
  readonly ms?: number;
}

const limitNames: Readonly<Record<LimitName, true>> = {
  turns: true,
  toolCalls: true,
  tokens: true,
  usd: true,
  no_progress: true,
};

/** Returns whether an error code is the name of a limit. */
export function isLimitName(code: string | undefined): code is LimitName {
  return code !== undefined && Object.hasOwn(limitNames, code);
}

/** The limits of a run that sets none: 10 turns, 6 equal batches in a row, one hour. */
export const defaultLimits: Required<Pick<Limits, 'turns' | 'repeats' | 'ms'>> = {
  turns: 10,
  repeats: 6,
  ms: 3_600_000,
};

/** US dollars per million tokens, and per web search. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of input read from the cache. Default: the input price. */
  readonly cacheRead?: number;
  /** Price of input written to the cache. Default: the input price. */
  readonly cacheWrite?: number;
  /** Price of writing for the longer of the provider's cache lifetimes. Default: `cacheWrite`. */
  readonly cacheWriteLong?: number;
  /** Price of one web search that the provider runs. Default 0. */
  readonly search?: number;
}

/**
 * Returns the price of a model. `undefined` means unknown, which is never the same as free. `inputTokens` is the
 * total input of one request, for models whose price depends on it. Without it, such a model has its higher price, so
 * that no limit is exceeded.
 */
export type Pricing = (provider: string, model: string, inputTokens?: number) => Price | undefined;

/** Knows no price. */
export const noPricing: Pricing = () => undefined;

/** Returns the cost of the given usage in US dollars. */
export function costOf(usage: Usage, price: Price): number {
  const read = usage.cacheReadTokens ?? 0;
  const write = usage.cacheWriteTokens ?? 0;
  const long = Math.min(write, usage.cacheWriteLongTokens ?? 0);
  const plain = Math.max(0, usage.inputTokens - read - write);
  const { input, cacheRead = input, cacheWrite = input, cacheWriteLong = cacheWrite } = price;
  const perMillion =
    plain * input +
    read * cacheRead +
    (write - long) * cacheWrite +
    long * cacheWriteLong +
    usage.outputTokens * price.output;
  return perMillion / 1_000_000 + (usage.searches ?? 0) * (price.search ?? 0);
}

/** Returns the maximum cost of input tokens in US dollars, regardless of caching. */
export function dearestInput(tokens: number, price: Price): number {
  const { input, cacheRead = input, cacheWrite = input, cacheWriteLong = cacheWrite } = price;
  return (tokens * Math.max(input, cacheRead, cacheWrite, cacheWriteLong)) / 1_000_000;
}

/** A limit that was reached, and the object that has it unless it is in a store. */
export interface LimitDetails extends ReachedLimit {
  readonly of?: object;
}

/** Not fields of the errors, because their data is stored, and older readers know its fields. */
const details = new WeakMap<AgentError, LimitDetails>();

/** Creates the error of a run that reached a limit. */
export function limitError(code: LimitName, message: string, reached?: LimitDetails): AgentError {
  const error = new AgentError({ kind: 'limit', code, message });
  if (reached !== undefined) details.set(error, reached);
  return error;
}

/** Returns the limit that an error of this process is about. */
export function limitDetails(error: AgentError): LimitDetails | undefined {
  return details.get(error);
}
