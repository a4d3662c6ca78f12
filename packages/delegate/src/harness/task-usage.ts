import type { Price, Usage } from '@cobbler/agent';
import { addUsage, noUsage, subtractUsage } from '@cobbler/agent';
import type { BackendResult } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { tokensOf } from '../events/backend-event.ts';

/** The usage of a program as part of a response or an error. `usd` is the cost of both parts. */
export type ReportedUsage = Pick<BackendResult, 'usage' | 'wasted' | 'usd'>;

/** Cost can only be charged together with tokens. If there is no token count, it is charged with one token. */
export const uncounted: Usage = { inputTokens: 1, outputTokens: 0, estimated: true };

/** Tracks the usage of one task and the part already reported, so that each token and each dollar counts once. */
export class TaskUsage {
  readonly #earlier: ReportedUsage;
  /** Usage of failed attempts, as far as reported. */
  #lost: Usage = noUsage;
  #lostUsd: number | undefined;
  #result: BackendResult | undefined;
  #reported: ReportedUsage = nothingDue;

  /** @param earlier the unreported usage of the previous task */
  constructor(earlier: ReportedUsage = nothingDue) {
    this.#earlier = earlier;
  }

  /** Records usage reported with a response. Its cost is reported with the last response. */
  record(usage: Usage): void {
    this.#reported = { ...this.#reported, usage: addUsage(this.#reported.usage, usage) };
  }

  /** Records a failed attempt that is followed by another. */
  waste({ wasted = noUsage, usd }: Extract<BackendEvent, { type: 'withdrawn' }>): void {
    this.#lost = addUsage(this.#lost, wasted);
    if (usd !== undefined) this.#lostUsd = (this.#lostUsd ?? 0) + usd;
  }

  /** Records the end of the task. */
  close(result: BackendResult): void {
    this.#result = result;
  }

  /**
   * Returns the unreported usage and marks it as reported.
   * @param seen the usage of the current response, if the task is still running
   */
  settle(seen: Usage): ReportedUsage {
    const reported = this.#reported;
    const usage = addUsage(reported.usage, seen);
    const earlier = reported.usd === undefined ? this.#earlier : nothingDue;
    const all = this.#result ?? { usage, wasted: this.#lost, usd: this.#lostUsd };
    const isPriced = all.usd !== undefined || earlier.usd !== undefined;
    this.#reported = { usage: all.usage, wasted: all.wasted, usd: all.usd ?? reported.usd ?? 0 };
    const due = {
      usage: subtractUsage(all.usage, reported.usage),
      wasted: addUsage(subtractUsage(all.wasted, reported.wasted), addUsage(earlier.usage, earlier.wasted)),
    };
    if (!isPriced) return due;
    const usd = Math.max(0, (all.usd ?? 0) - (reported.usd ?? 0)) + (earlier.usd ?? 0);
    const isCounted = usd === 0 || tokensOf(due.usage) + tokensOf(due.wasted) > 0;
    return { ...due, usd, ...(!isCounted && { usage: uncounted }) };
  }

  /** Returns the usage of the next task, which also reports what this task has not reported. */
  next(): TaskUsage {
    return this.#result === undefined ? new TaskUsage() : new TaskUsage(this.settle(noUsage));
  }
}

const nothingDue: ReportedUsage = { usage: noUsage, wasted: noUsage };

/** Returns the price per token that makes the usage cost what the program reported. */
export function priceOf({ usage, wasted, usd }: ReportedUsage): Price | undefined {
  if (usd === undefined) return undefined;
  const each = (usd * 1_000_000) / Math.max(1, tokensOf(usage) + tokensOf(wasted));
  return { input: each, output: each };
}
