import type { Price, Spending, Usage } from '@cobbler/agent';
import { addUsage, costOf, noUsage, subtractUsage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendResult } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { tokensOf } from '../events/backend-event.ts';

/** The cost of one task for the log: each failed attempt when it ends, because a crash would lose it, and then the rest. */
export class TaskCost {
  readonly #backend: string;
  readonly #price: Price | undefined;
  #attempts = 0;
  #wasted: Usage = noUsage;
  #usd = 0;

  /** @param price the price of a program that does not report its cost */
  constructor(backend: string, price: Price | undefined) {
    this.#backend = backend;
    this.#price = price;
  }

  /** Returns the cost of all attempts in US dollars; undefined if it is unknown. */
  usdOf({ usd, usage, wasted }: Pick<BackendResult, 'usage' | 'wasted' | 'usd'>): number | undefined {
    return usd ?? (this.#price && costOf(addUsage(usage, wasted), this.#price));
  }

  /** Returns the cost of an attempt that is followed by another; undefined if it is unknown so far. */
  ofTry({
    wasted = noUsage,
    usd: given,
  }: Extract<BackendEvent, { type: 'withdrawn' }>): Spending | undefined {
    const usd = this.usdOf({ usage: noUsage, wasted, ...defined({ usd: given }) });
    if (usd === undefined) return undefined;
    this.#attempts += 1;
    this.#wasted = addUsage(this.#wasted, wasted);
    this.#usd += usd;
    return this.#spending({ usage: noUsage, wasted, attempts: 1, answers: 0, usd });
  }

  /** Returns the cost of everything else once the task has ended; null if nothing was used. */
  ofRest(result: BackendResult): Spending | null {
    const { usage, turns: answers } = result;
    const wasted = subtractUsage(result.wasted, this.#wasted);
    const total = this.usdOf(result);
    if (tokensOf(usage) + tokensOf(wasted) === 0 && (total ?? 0) <= this.#usd) return null;
    const usd = total === undefined ? undefined : Math.max(0, total - this.#usd);
    return this.#spending({
      usage,
      wasted,
      attempts: Math.max(0, result.attempts - this.#attempts),
      answers,
      usd,
    });
  }

  #spending({
    usd,
    ...spent
  }: Omit<Spending['spent'], 'durationMs' | 'usd'> & { readonly usd: number | undefined }): Spending {
    return {
      who: 'delegate',
      provider: this.#backend,
      spent: { ...spent, durationMs: 0, ...defined({ usd }) },
    };
  }
}
