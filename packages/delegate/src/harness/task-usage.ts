import type { Price, Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import type { BackendResult } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { subtractUsage, tokensOf } from '../events/backend-event.ts';

/** Usage that a response or an error reports of a program. */
export interface ReportedUsage {
  readonly usage: Usage;
  readonly wasted: Usage;
  /** US dollars of both; absent when the program does not say. */
  readonly usd?: number;
}

/** Cost is booked together with tokens: without a token count, with one token. */
export const uncounted: Usage = { inputTokens: 1, outputTokens: 0, estimated: true };

/** Usage of one task, and the part already reported: each token and each dollar counts once. */
export class TaskUsage {
  readonly #earlier: ReportedUsage;
  /** Failed attempts, as far as the task has reported them. */
  #lost: Usage = noUsage;
  #lostUsd: number | undefined;
  #result: BackendResult | undefined;
  #reported: ReportedUsage = nothingDue;

  /** `earlier`: what was never reported of the job before. */
  constructor(earlier: ReportedUsage = nothingDue) {
    this.#earlier = earlier;
  }

  /** An answer reports this; what it cost is reported with the last one. */
  record(usage: Usage): void {
    this.#reported = { ...this.#reported, usage: addUsage(this.#reported.usage, usage) };
  }

  /** A try has failed, and another one follows. */
  waste({ wasted = noUsage, usd }: Extract<BackendEvent, { type: 'withdrawn' }>): void {
    this.#lost = addUsage(this.#lost, wasted);
    if (usd !== undefined) this.#lostUsd = (this.#lostUsd ?? 0) + usd;
  }

  /** The job is over. */
  close(result: BackendResult): void {
    this.#result = result;
  }

  /** All that has not been reported. `seen` is what the current answer of a job that is not over has used so far. */
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

  /** The usage of the next task: what was not asked for in time is reported with it. */
  next(): TaskUsage {
    return this.#result === undefined ? new TaskUsage() : new TaskUsage(this.settle(noUsage));
  }
}

const nothingDue: ReportedUsage = { usage: noUsage, wasted: noUsage };

/** The price per token at which the tokens cost what the program reported. */
export function priceOf({ usage, wasted, usd }: ReportedUsage): Price | undefined {
  if (usd === undefined) return undefined;
  const each = (usd * 1_000_000) / Math.max(1, tokensOf(usage) + tokensOf(wasted));
  return { input: each, output: each };
}
