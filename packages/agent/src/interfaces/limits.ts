import { AgentError } from '../values/errors.ts';
import type { LimitName } from '../values/stored-values.ts';
import type { Usage } from '../values/usage.ts';

export type { LimitName } from '../values/stored-values.ts';

/**
 * What one run may use up, with those that draw on its budget: tools that run others hand it on. An absent limit
 * has the default named with it. Time is each run's own; who hands work on hands the signal on as well.
 */
export interface Limits {
  /** Answers of the model, a closing one not counted. Default 10 for each run. */
  readonly turns?: number;
  /** Tool calls. Default: no limit. */
  readonly toolCalls?: number;
  /** Input and output tokens together, cached input included. Default: no limit. */
  readonly tokens?: number;
  /** Money in US dollars. Default: no limit. */
  readonly usd?: number;
  /**
   * How many times in a row a turn may make the same calls with the same arguments and get the same results
   * before the run ends with `no_progress`. Halfway there the model is informed. Turns at least ten seconds apart
   * wait for something and are not counted. Default 6; 0 for no limit.
   */
  readonly repeats?: number;
  /** Time in milliseconds, the time people take to decide not counted. Default 3,600,000. */
  readonly ms?: number;
}

const limitNames: ReadonlySet<string> = new Set<LimitName>([
  'turns',
  'toolCalls',
  'tokens',
  'usd',
  'no_progress',
]);

/** True for the code of a limit that a run can have. */
export function isLimitName(code: string | undefined): code is LimitName {
  return code !== undefined && limitNames.has(code);
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
  /** Default: the price of input. */
  readonly cacheRead?: number;
  /** Default: the price of input. */
  readonly cacheWrite?: number;
  /** Of writing for the longer of the provider's lifetimes. Default: `cacheWrite`. */
  readonly cacheWriteLong?: number;
}

/**
 * Looks a model up. `undefined` means unknown, which is never the same as free. `inputTokens` is all input of
 * one request, for models whose price depends on it; without it such a model has its dearer price, so that no
 * limit is overrun.
 */
export type Pricing = (provider: string, model: string, inputTokens?: number) => Price | undefined;

/** What a usage costs in US dollars. */
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

/** What so much input costs at most in US dollars, whatever the cache makes of it. */
export function dearestInput(tokens: number, price: Price): number {
  const { input, cacheRead = input, cacheWrite = input, cacheWriteLong = cacheWrite } = price;
  return (tokens * Math.max(input, cacheRead, cacheWrite, cacheWriteLong)) / 1_000_000;
}

/** An amount held back for a call that is under way. */
export interface Reservation {
  /**
   * Books what failed attempts have used so far, all in all, and goes on holding the whole amount for
   * another one. False, with nothing booked, when the limit leaves no room for both.
   */
  again(tokens: number, usd: number): boolean;
  /** Books what was really used, failed attempts included, and gives the rest back. Only the first call counts. */
  settle(tokens: number, usd: number): void;
}

/** What is counted by the piece. */
export type Countable = 'turns' | 'toolCalls';

/**
 * What a tree of work may still spend: tokens, money, answers and tool calls. The worst case of a call is reserved
 * before it and settled after, so that work running side by side cannot spend the same rest twice.
 *
 * B1 spent + reserved never exceeds a limit by more than what one settled call used above its own reservation;
 * B2 a call is booked once, with what it really used, its failed attempts included;
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
    const { tokens = none, usd = none, turns = none, toolCalls = none } = limits;
    this.#limits = { tokens, usd, turns, toolCalls };
  }

  /** Tokens spent so far, by all users of this budget. */
  get tokens(): number {
    return this.#tokens;
  }

  /** US dollars spent so far. */
  get usd(): number {
    return this.#usd;
  }

  /** Whether money is limited, so that an unknown price must be refused. */
  get limitsMoney(): boolean {
    return this.#limits.usd !== Number.POSITIVE_INFINITY;
  }

  /** Tokens neither spent nor reserved; may be infinite. */
  get tokensLeft(): number {
    return this.#limits.tokens - this.#tokens - this.#heldTokens;
  }

  /** US dollars neither spent nor reserved; may be infinite. */
  get usdLeft(): number {
    return this.#limits.usd - this.#usd - this.#heldUsd;
  }

  /** How many are neither used nor taken; may be infinite. */
  left(what: Countable): number {
    return this.#limits[what] - this.#taken[what];
  }

  /**
   * Takes so many before they are used. The function that it gives says how many were, and gives the rest back.
   * @throws AgentError `limit` with what is limited as its code when so many are not left.
   */
  take(what: Countable, count: number): (used: number) => void {
    if (count > this.left(what))
      throw limitError(what, `The limit of ${this.#limits[what]} ${what} leaves no room for ${count} more.`);
    this.#taken[what] += count;
    let open = true;
    return (used) => {
      if (open) this.#taken[what] += used - count;
      open = false;
    };
  }

  /**
   * Holds back the worst case of a call.
   * @throws AgentError `limit` with code `tokens` or `usd` when that much is not left.
   */
  reserve(tokens: number, usd: number): Reservation {
    if (tokens > this.tokensLeft)
      throw limitError(
        'tokens',
        `The token limit of ${this.#limits.tokens} leaves no room for the next call.`,
      );
    if (usd > this.usdLeft)
      throw limitError('usd', `The money limit of $${this.#limits.usd} leaves no room for the next call.`);
    this.#heldTokens += tokens;
    this.#heldUsd += usd;
    let open = true;
    let bookedTokens = 0;
    let bookedUsd = 0;
    const book = (usedTokens: number, usedUsd: number) => {
      this.#tokens += usedTokens - bookedTokens;
      this.#usd += usedUsd - bookedUsd;
      bookedTokens = usedTokens;
      bookedUsd = usedUsd;
    };
    return {
      again: (usedTokens, usedUsd) => {
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

/** The error of a run that a limit ended. */
export function limitError(code: LimitName, message: string): AgentError {
  return new AgentError({ kind: 'limit', code, message });
}
