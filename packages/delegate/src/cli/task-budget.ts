import type { Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendRequest } from '../backend/backend.ts';
import type { Totals } from '../events/backend-event.ts';
import { earlierOf, tokensOf, usageSince, usdSince } from '../events/backend-event.ts';
import type { CliProcess } from './cli-process.ts';

/** Usage of one attempt. */
export interface AttemptCost {
  readonly usage: Usage;
  /** US dollars; absent when the program did not say. */
  readonly usd?: number;
}

/**
 * Usage of all attempts of one task. Its limits apply to all of them together: an attempt gets what the earlier ones
 * left.
 */
export class TaskBudget {
  readonly #caps: BackendRequest;
  readonly #tellsCost: boolean;
  /** Counts of the conversation before this job and after each of its tries. */
  #totals: Totals[];
  #isResumed: boolean;
  #wasted: Usage = noUsage;
  #usd: number | undefined;
  #turns = 0;
  /** Usage of the current attempt, as reported so far. */
  #spent: Usage = noUsage;
  #answers = 0;

  constructor(caps: BackendRequest, tellsCost: boolean) {
    this.#caps = caps;
    this.#tellsCost = tellsCost;
    this.#isResumed = caps.resumeId !== undefined;
    this.#totals = caps.before === undefined ? [] : [caps.before];
  }

  /** Usage of failed attempts. */
  get wasted(): Usage {
    return this.#wasted;
  }

  /** Answers in tries that failed. */
  get turns(): number {
    return this.#turns;
  }

  get isOverTokens(): boolean {
    return (
      tokensOf(this.#wasted) + tokensOf(this.#spent) > (this.#caps.maxTokens ?? Number.POSITIVE_INFINITY)
    );
  }

  /** The current try has reported an answer. */
  count(usage: Usage): void {
    this.#spent = addUsage(this.#spent, usage);
    this.#answers += 1;
  }

  /** The request of an attempt after one with this cost. Undefined: a limit is used up, or the usage is unknown. */
  next(request: BackendRequest, cost: AttemptCost): BackendRequest | undefined {
    const { maxTurns, maxUsd, maxTokens } = this.#caps;
    const used = tokensOf(this.#wasted) + tokensOf(cost.usage);
    const spent = this.usdWith(cost);
    const turns = maxTurns === undefined ? undefined : maxTurns - this.#turns - this.#answers;
    const usd = maxUsd === undefined ? undefined : maxUsd - (spent ?? 0);
    const tokens = maxTokens === undefined ? undefined : maxTokens - used;
    if ([turns, usd, tokens].some((left) => left !== undefined && left <= 0)) return undefined;
    if (usd !== undefined && this.#tellsCost && spent === undefined && used > 0) return undefined;
    return {
      ...request,
      ...defined({ maxTurns: turns, maxUsd: usd }),
    };
  }

  /** The conversation to resume is gone: earlier counts mean nothing. */
  forget(): void {
    this.#isResumed = false;
    this.#totals = [];
  }

  /** A try is over, and another follows it. */
  close(cliProcess: CliProcess, cost: AttemptCost): void {
    this.#wasted = addUsage(this.#wasted, cost.usage);
    this.#usd = this.usdWith(cost);
    this.#turns += this.#answers;
    // Tries that resume no conversation begin one each.
    if (this.#isResumed) this.#totals.push(this.totals(cliProcess));
    this.#spent = noUsage;
    this.#answers = 0;
  }

  /** Usage of an attempt. */
  costOf(cliProcess: CliProcess | undefined, { resumeId }: BackendRequest): AttemptCost {
    const { end, sessionId } = cliProcess ?? {};
    // The conversation that was asked for is resumed: an id of its own means that the program began anew.
    const resumed = resumeId !== undefined && (sessionId === undefined || sessionId === resumeId);
    const before = earlierOf(this.#totals, end ?? {});
    const reported =
      end?.usage === undefined || (!end.ok && tokensOf(end.usage) === 0) ? this.#spent : end.usage;
    const usage = end?.totalUsage === undefined ? reported : usageSince(end.totalUsage, before, resumed);
    // The difference first: it holds what an earlier run that was cut off did not report.
    const usd = usdSince(end?.totalUsd, before, resumed) ?? end?.usd;
    return { usage, ...defined({ usd }) };
  }

  /** US dollars of all tries, this one included. */
  usdWith({ usd }: AttemptCost): number | undefined {
    return this.#usd === undefined || usd === undefined ? (this.#usd ?? usd) : this.#usd + usd;
  }

  /** Usage of the conversation so far, including this attempt. */
  totals(cliProcess: CliProcess | undefined): Totals {
    const before = this.#totals.at(-1);
    const usage = cliProcess?.end?.totalUsage ?? before?.usage;
    const usd = cliProcess?.end?.totalUsd ?? before?.usd;
    return { ...defined({ usage, usd }) };
  }
}
