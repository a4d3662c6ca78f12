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
  /** Cost in US dollars; absent if the program does not report it. */
  readonly usd?: number;
}

/**
 * Usage of all attempts of one task. The limits apply to all attempts together: each attempt gets the remainder of
 * the earlier ones.
 */
export class TaskBudget {
  readonly #caps: BackendRequest;
  readonly #tellsCost: boolean;
  /** Totals of the conversation before this task and after each attempt. */
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

  /** Number of responses in failed attempts. */
  get turns(): number {
    return this.#turns;
  }

  get isOverTokens(): boolean {
    return (
      tokensOf(this.#wasted) + tokensOf(this.#spent) > (this.#caps.maxTokens ?? Number.POSITIVE_INFINITY)
    );
  }

  /** Counts a reported response of the current attempt. */
  count(usage: Usage): void {
    this.#spent = addUsage(this.#spent, usage);
    this.#answers += 1;
  }

  /**
   * Returns the request of the attempt after one with this cost; undefined if a limit is reached or the usage is
   * unknown.
   */
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

  /** Discards the earlier totals, because the conversation to resume no longer exists. */
  forget(): void {
    this.#isResumed = false;
    this.#totals = [];
  }

  /** Ends an attempt that is followed by another. */
  close(cliProcess: CliProcess, cost: AttemptCost): void {
    this.#wasted = addUsage(this.#wasted, cost.usage);
    this.#usd = this.usdWith(cost);
    this.#turns += this.#answers;
    // Each attempt that does not resume a conversation starts a new one.
    if (this.#isResumed) this.#totals.push(this.totals(cliProcess));
    this.#spent = noUsage;
    this.#answers = 0;
  }

  /** Returns the usage of an attempt. */
  costOf(cliProcess: CliProcess | undefined, { resumeId }: BackendRequest): AttemptCost {
    const { end, sessionId } = cliProcess ?? {};
    // If the program reports a different id, it did not resume the requested conversation but started a new one.
    const resumed = resumeId !== undefined && (sessionId === undefined || sessionId === resumeId);
    const before = earlierOf(this.#totals, end ?? {});
    const reported =
      end?.usage === undefined || (!end.ok && tokensOf(end.usage) === 0) ? this.#spent : end.usage;
    const usage = end?.totalUsage === undefined ? reported : usageSince(end.totalUsage, before, resumed);
    // The difference takes precedence, because it includes usage that an interrupted run did not report.
    const usd = usdSince(end?.totalUsd, before, resumed) ?? end?.usd;
    return { usage, ...defined({ usd }) };
  }

  /** Returns the cost of all attempts including this one, in US dollars. */
  usdWith({ usd }: AttemptCost): number | undefined {
    return this.#usd === undefined || usd === undefined ? (this.#usd ?? usd) : this.#usd + usd;
  }

  /** Returns the usage of the conversation so far, including this attempt. */
  totals(cliProcess: CliProcess | undefined): Totals {
    const before = this.#totals.at(-1);
    const usage = cliProcess?.end?.totalUsage ?? before?.usage;
    const usd = cliProcess?.end?.totalUsd ?? before?.usd;
    return { ...defined({ usage, usd }) };
  }
}
