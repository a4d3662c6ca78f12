import { AgentError } from '../values/errors.ts';
import { amount, oneOf, read, record } from '../values/input.ts';
import type { LimitName } from '../values/stored-values.ts';
import type { Usage } from '../values/usage.ts';

export type { LimitName } from '../values/stored-values.ts';

/**
 * The limits of one run and of everything that shares its budget, such as runs that its tools start. An absent limit
 * has the default given with it. Each run has its own time limit; a tool that starts runs also passes on its signal.
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

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of input read from the cache. Default: the input price. */
  readonly cacheRead?: number;
  /** Price of input written to the cache. Default: the input price. */
  readonly cacheWrite?: number;
  /** Price of writing for the longer of the provider's cache lifetimes. Default: `cacheWrite`. */
  readonly cacheWriteLong?: number;
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
  return perMillion / 1_000_000;
}

/** Returns the maximum cost of input tokens in US dollars, regardless of caching. */
export function dearestInput(tokens: number, price: Price): number {
  const { input, cacheRead = input, cacheWrite = input, cacheWriteLong = cacheWrite } = price;
  return (tokens * Math.max(input, cacheRead, cacheWrite, cacheWriteLong)) / 1_000_000;
}

/** An amount reserved for a running request. */
export interface Reservation {
  /**
   * Charges the total usage of the failed attempts so far and keeps the full amount reserved for a retry. Returns
   * false, and charges nothing, if the limit leaves no room for both.
   */
  again(tokens: number, usd: number): boolean;
  /** Charges the actual usage, failed attempts included, and releases the rest. Only the first call counts. */
  settle(tokens: number, usd: number): void;
}

/** The limits that are counts. */
export type Countable = 'turns' | 'toolCalls';

/** Checks amounts: one that is not a number would remove the limit. Names their place only if one is invalid. */
function checkAmounts(place: string, tokens: number, usd: number): void {
  if (typeof tokens === 'number' && tokens >= 0 && typeof usd === 'number' && usd >= 0) return;
  read(tokens, amount, `${place}.tokens`);
  read(usd, amount, `${place}.usd`);
}

const countable = oneOf('turns', 'toolCalls');

const budgetLimits = record<Pick<Limits, 'tokens' | 'usd' | Countable>>({
  tokens: amount,
  usd: amount,
  turns: amount,
  toolCalls: amount,
});

/**
 * The remaining tokens, money, responses and tool calls of a run and everything that it starts. The worst case of a
 * request is reserved before it is sent and settled afterwards, so that parallel work cannot spend the same amount twice.
 *
 * B1 the sum of spent and reserved exceeds a limit by at most what one settled request used beyond its reservation;
 * B2 a request is charged once, with its actual usage, failed attempts included;
 * B3 a request of unknown price never counts as free.
 */
export class Budget {
  readonly #limits: Required<Pick<Limits, 'tokens' | 'usd' | Countable>>;
  readonly #taken: Record<Countable, number> = { turns: 0, toolCalls: 0 };
  #tokens = 0;
  #usd = 0;
  #heldTokens = 0;
  #heldUsd = 0;

  constructor(limits: Pick<Limits, 'tokens' | 'usd' | Countable> = {}) {
    const none = Number.POSITIVE_INFINITY;
    const given = read(limits, budgetLimits, 'limits');
    this.#limits = { tokens: none, usd: none, turns: none, toolCalls: none, ...given };
  }

  /** Tokens spent so far by all users of this budget. */
  get tokens(): number {
    return this.#tokens;
  }

  /** US dollars spent so far. */
  get usd(): number {
    return this.#usd;
  }

  /** True if money is limited, so that an unknown price must be refused. */
  get limitsMoney(): boolean {
    return this.#limits.usd !== Number.POSITIVE_INFINITY;
  }

  /** Tokens neither spent nor reserved; can be infinite. */
  get tokensLeft(): number {
    return this.#limits.tokens - this.#tokens - this.#heldTokens;
  }

  /** US dollars neither spent nor reserved; can be infinite. */
  get usdLeft(): number {
    return this.#limits.usd - this.#usd - this.#heldUsd;
  }

  /** Returns the remaining number, neither used nor taken; can be infinite. */
  left(what: Countable): number {
    if (what !== 'turns' && what !== 'toolCalls') read(what, countable, 'what');
    return this.#limits[what] - this.#taken[what];
  }

  /**
   * Takes `count` units before they are used. Call the returned function with the number actually used to release the
   * rest.
   * @throws AgentError `limit`, with `what` as its code, if fewer are left.
   */
  take(what: Countable, count: number): (used: number) => void {
    if (what !== 'turns' && what !== 'toolCalls') read(what, countable, 'what');
    // False for anything but a number from 0 to what is left.
    if (!(typeof count === 'number' && count >= 0 && count <= this.#limits[what] - this.#taken[what])) {
      read(count, amount, 'count');
      if (count > this.left(what))
        throw limitError(what, `limits.${what} (${this.#limits[what]}) leaves no room for ${count} more.`);
    }
    this.#taken[what] += count;
    let open = true;
    return (used) => {
      if (!open) return;
      if (used !== count) read(used, amount, 'used');
      open = false;
      this.#taken[what] += used - count;
    };
  }

  /**
   * Reserves the worst case of a request.
   * @throws AgentError `limit`, code `tokens` or `usd`, if less is left.
   */
  reserve(tokens: number, usd: number): Reservation {
    checkAmounts('reserved', tokens, usd);
    if (tokens > this.tokensLeft)
      throw limitError(
        'tokens',
        `The token limit of ${this.#limits.tokens} leaves no room for the next request.`,
      );
    if (usd > this.usdLeft)
      throw limitError('usd', `The cost limit of $${this.#limits.usd} leaves no room for the next request.`);
    this.#heldTokens += tokens;
    this.#heldUsd += usd;
    let open = true;
    let bookedTokens = 0;
    let bookedUsd = 0;
    const book = (usedTokens: number, usedUsd: number) => {
      checkAmounts('used', usedTokens, usedUsd);
      this.#tokens += usedTokens - bookedTokens;
      this.#usd += usedUsd - bookedUsd;
      bookedTokens = usedTokens;
      bookedUsd = usedUsd;
    };
    return {
      again: (usedTokens, usedUsd) => {
        checkAmounts('used', usedTokens, usedUsd);
        const fits = usedTokens - bookedTokens <= this.tokensLeft && usedUsd - bookedUsd <= this.usdLeft;
        if (!open || !fits) return false;
        book(usedTokens, usedUsd);
        return true;
      },
      settle: (usedTokens, usedUsd) => {
        if (!open) return;
        open = false;
        this.#heldTokens -= tokens;
        this.#heldUsd -= usd;
        book(usedTokens, usedUsd);
      },
    };
  }
}

/** Creates the error of a run that reached a limit. */
export function limitError(code: LimitName, message: string): AgentError {
  return new AgentError({ kind: 'limit', code, message });
}
