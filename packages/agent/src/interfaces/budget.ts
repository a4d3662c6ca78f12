import type { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, callable, count, flag, listOf, oneOf, read, record, text, when } from '../values/input.ts';
import type { Amounts } from './amounts.ts';
import type { BudgetLevel } from './decide-reservation.ts';
import { decideReservation } from './decide-reservation.ts';
import type { Limits } from './limits.ts';
import { limitError } from './limits.ts';
import type {
  BudgetGrant,
  BudgetHold,
  HoldListener,
  HoldRequest,
  PendingHold,
  RaisedLimits,
  RecordedUsage,
  Reservation,
} from './reservation.ts';
import type { Recorder, Spending } from './spending.ts';
import { readSpending, unnamedSpending } from './spending.ts';

/** The limits that are counts. */
export type Countable = 'turns' | 'toolCalls';

type BudgetLimits = Pick<Limits, 'tokens' | 'usd' | Countable>;

/** Checks amounts: one that is not a number would remove the limit. Names their place only if one is invalid. */
function checkAmounts(place: string, tokens: number, usd: number): void {
  if (typeof tokens === 'number' && tokens >= 0 && typeof usd === 'number' && usd >= 0) return;
  read(tokens, amount, `${place}.tokens`);
  read(usd, amount, `${place}.usd`);
}

const countable = oneOf('turns', 'toolCalls');

const amounts = { tokens: amount, usd: amount, turns: amount, toolCalls: amount };

/** A limit on what is counted: with half a turn left, a run could neither continue nor report the limit. */
export const countLimit: Reader<number> = when(
  (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0),
  'a whole number of at least 0',
);

const budgetLimits = record<BudgetLimits>({ ...amounts, turns: countLimit, toolCalls: countLimit });

const usedAmounts = record<Required<BudgetLimits>>(amounts, ['tokens', 'usd', 'turns', 'toolCalls']);

const heldAmounts = record<Pick<Amounts, 'tokens' | 'usd'>>({ tokens: amount, usd: amount }, [
  'tokens',
  'usd',
]);

/** Reads a request for amounts. */
export const readHoldRequest: Reader<HoldRequest> = record<HoldRequest>(
  { wanted: heldAmounts, least: heldAmounts, sessionId: text, runId: text, seq: count, isOfCall: flag },
  ['wanted', 'least', 'sessionId', 'runId', 'seq'],
);

function lowerLevels(value: unknown): readonly Budget[] {
  const isBudget = (each: unknown): each is Budget => each instanceof Budget;
  return read(value, listOf(when(isBudget, 'a Budget')), 'below');
}

/** A request that waits for room in a budget and those above it. */
interface Waiter {
  /** From the budget of the request to the root. */
  readonly levels: readonly Budget[];
  readonly request: HoldRequest;
  readonly settle: HoldListener;
  isLast: boolean;
}

/**
 * The remaining tokens, money, responses and tool calls of a run and everything that it starts. The worst case of a
 * request is reserved before it is sent and settled afterwards, so that parallel work cannot spend the same amount
 * twice. A budget can be inside another one: everything then counts in both.
 *
 * B1 the sum of spent and reserved exceeds a limit by at most what one settled request used beyond its reservation;
 * B2 a request is charged once in each budget, with its actual usage, failed attempts included;
 * B3 a request of unknown price never counts as free;
 * B4 a request waits while other requests have reserved the room that it needs, and those that wait for the same budget
 *    get their turn in the order in which they asked.
 */
export class Budget {
  readonly #given: Required<BudgetLimits>;
  #limits: Required<BudgetLimits>;
  readonly #above: Budget | undefined;
  readonly #record: Recorder | undefined;
  /** True if what is charged here is recorded, here or above, so that a description of it is useful. */
  readonly isRecorded: boolean;
  readonly #taken: Record<Countable, number> = { turns: 0, toolCalls: 0 };
  #tokens = 0;
  #usd = 0;
  #heldTokens = 0;
  #heldUsd = 0;
  /** The reserved amounts that end with a request, so that others wait for them. */
  #briefTokens = 0;
  #briefUsd = 0;
  /** Only of a budget that is inside no other. */
  readonly #waiters: Waiter[] = [];

  /**
   * @param limits an absent limit is no limit
   * @param above the budget that this one is inside. Default: none.
   * @param recorder receives everything that is charged here. Default: only the amounts are counted.
   */
  constructor(limits: BudgetLimits = {}, above?: Budget, recorder?: Recorder) {
    const none = Number.POSITIVE_INFINITY;
    const given = read(limits, budgetLimits, 'limits');
    this.#given = { tokens: none, usd: none, turns: none, toolCalls: none, ...given };
    this.#limits = this.#given;
    this.#above = above;
    this.#record = recorder;
    this.isRecorded = recorder !== undefined || above?.isRecorded === true;
  }

  /** Tokens spent so far by all users of this budget. */
  get tokens(): number {
    return this.#tokens;
  }

  /** US dollars spent so far. */
  get usd(): number {
    return this.#usd;
  }

  /** True if tokens or money are limited, here or above. */
  get isLimited(): boolean {
    const { tokens, usd } = this.#limits;
    return Math.min(tokens, usd) !== Number.POSITIVE_INFINITY || this.#above?.isLimited === true;
  }

  /** True if money is limited, here or above, so that an unknown price must be refused. */
  get limitsMoney(): boolean {
    return this.#limits.usd !== Number.POSITIVE_INFINITY || this.#above?.limitsMoney === true;
  }

  /** Tokens neither spent nor reserved, here and above; can be infinite. */
  get tokensLeft(): number {
    const left = this.#limits.tokens - this.#tokens - this.#heldTokens;
    return this.#above === undefined ? left : Math.min(left, this.#above.tokensLeft);
  }

  /** US dollars neither spent nor reserved, here and above; can be infinite. */
  get usdLeft(): number {
    const left = this.#limits.usd - this.#usd - this.#heldUsd;
    return this.#above === undefined ? left : Math.min(left, this.#above.usdLeft);
  }

  /** Returns the remaining number, neither used nor taken, here and above; can be infinite. */
  left(what: Countable): number {
    if (what !== 'turns' && what !== 'toolCalls') read(what, countable, 'what');
    const left = this.#limits[what] - this.#taken[what];
    return this.#above === undefined ? left : Math.min(left, this.#above.left(what));
  }

  /** Returns the number used or taken so far. */
  taken(what: Countable): number {
    return this.#taken[read(what, countable, 'what')];
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
      if (count > this.#limits[what] - this.#taken[what])
        throw limitError(what, `limits.${what} (${this.#limits[what]}) leaves no room for ${count} more.`);
    }
    const settleAbove = this.#above?.take(what, count);
    this.#taken[what] += count;
    let open = true;
    return (used) => {
      if (!open) return;
      if (used !== count) read(used, amount, 'used');
      open = false;
      this.#taken[what] += used - count;
      settleAbove?.(used);
    };
  }

  /**
   * Charges what a request without a reservation used, here and above.
   * @param spending describes it for the log of the run. Null: it is recorded elsewhere.
   */
  spend(tokens: number, usd: number, spending?: Spending | null): void {
    checkAmounts('used', tokens, usd);
    this.#tokens += tokens;
    this.#usd += usd;
    // Usually nothing is recorded, and a call costs time in every turn.
    const isRecorded = this.#record !== undefined || spending !== undefined;
    const left = isRecorded ? this.#recorded(tokens, usd, spending) : undefined;
    this.#above?.spend(tokens, usd, left);
  }

  /** Records what was charged here. Returns what the budget above records. */
  #recorded(tokens: number, usd: number, given?: Spending | null): Spending | null | undefined {
    const spending = given && read(given, readSpending, 'spending');
    if (this.#record === undefined || spending === null) return spending;
    if (spending === undefined && tokens + usd === 0) return undefined;
    const named = spending ?? unnamedSpending(tokens, usd);
    return this.#record(named, tokens, usd) ? null : named;
  }

  /**
   * Charges what earlier work of the same run used, which every budget above has counted already.
   * @param used the tokens, US dollars, turns and tool calls
   */
  charge(used: Required<BudgetLimits>): void {
    const past = read(used, usedAmounts, 'used');
    this.#tokens += past.tokens;
    this.#usd += past.usd;
    for (const what of ['turns', 'toolCalls'] as const)
      this.#taken[what] += Math.min(past[what], this.#limits[what] - this.#taken[what]);
  }

  /**
   * Reserves amounts at once, for work that may take a long time: no other request waits for them.
   * @throws AgentError `limit`, code `tokens` or `usd`, if less is left.
   */
  reserve(tokens: number, usd: number): Reservation {
    checkAmounts('reserved', tokens, usd);
    const [freeTokens, freeUsd] = this.#free();
    if (tokens > freeTokens)
      throw limitError(
        'tokens',
        `The token limit of ${this.#limits.tokens} leaves no room for the next request.`,
      );
    if (usd > freeUsd)
      throw limitError('usd', `The cost limit of $${this.#limits.usd} leaves no room for the next request.`);
    const above = this.#above?.reserve(tokens, usd);
    const own = this.#held(tokens, usd, false);
    return {
      again: (usedTokens, usedUsd) => {
        if (!own.fits(usedTokens, usedUsd)) return false;
        if (above === undefined) return own.book(usedTokens, usedUsd);
        const allowed = above.again(usedTokens, usedUsd);
        if (typeof allowed === 'boolean') return allowed && own.book(usedTokens, usedUsd);
        return allowed.then((isAllowed) => isAllowed && own.book(usedTokens, usedUsd));
      },
      settle: (usedTokens, usedUsd, spending) => {
        const left = own.settle(usedTokens, usedUsd, spending);
        above?.settle(usedTokens, usedUsd, left);
        this.#serve();
      },
    };
  }

  /**
   * Reserves the worst case of a request here and above, in one step, and waits while other requests have reserved that
   * room. Calls the listener at once if there is no need to wait.
   * @param below the budgets between this one and the request, lowest first
   */
  hold(request: HoldRequest, listener: HoldListener, below: readonly Budget[] = []): PendingHold {
    if (this.#above !== undefined) return this.#above.hold(request, listener, [...lowerLevels(below), this]);
    const waiter: Waiter = {
      levels: [...lowerLevels(below), this],
      request: read(request, readHoldRequest, 'request'),
      settle: read<HoldListener>(listener, callable, 'listener'),
      isLast: false,
    };
    this.#waiters.push(waiter);
    this.#serve();
    return {
      decide: () => {
        waiter.isLast = true;
        this.#serve();
      },
      cancel: () => {
        this.#remove(waiter);
        this.#serve();
      },
    };
  }

  /**
   * Settles the reservations that crashed requests of a session left in a store, with the usage that the log shows. Returns
   * undefined if there is no store.
   */
  recover(sessionId: string, recorded: RecordedUsage): Promise<void> | undefined {
    return this.#above?.recover(sessionId, recorded);
  }

  /** Sets the total amounts that users allowed beyond the limits. */
  raise(given: RaisedLimits): void {
    const { tokens, usd } = read(given, heldAmounts, 'raised');
    this.#limits = { ...this.#given, tokens: this.#given.tokens + tokens, usd: this.#given.usd + usd };
  }

  /**
   * Lets a budget of a store spend more in its current period. Repeating a grant has no effect. Returns undefined if there is
   * no store.
   */
  grant(grant: BudgetGrant): Promise<void> | undefined {
    return this.#above?.grant(grant);
  }

  #free(): readonly [tokens: number, usd: number] {
    const { tokens, usd } = this.#limits;
    return [tokens - this.#tokens - this.#heldTokens, usd - this.#usd - this.#heldUsd];
  }

  /** Gives room to the requests that wait, in their order, except those that need room that an earlier one waits for. */
  #serve(): void {
    if (this.#waiters.length === 0) return;
    const awaited = new Set<Budget>();
    const served: (() => void)[] = [];
    for (const waiter of [...this.#waiters]) {
      const outcome = this.#decided(waiter, awaited);
      if (outcome === undefined) continue;
      this.#remove(waiter);
      served.push(() => waiter.settle(outcome));
    }
    // Listeners settle other requests.
    for (const settle of served) settle();
  }

  #remove(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index >= 0) this.#waiters.splice(index, 1);
  }

  /** Reserves amounts in this budget alone. */
  #held(tokens: number, usd: number, isBrief: boolean) {
    const [briefTokens, briefUsd] = isBrief ? [tokens, usd] : [0, 0];
    this.#heldTokens += tokens;
    this.#heldUsd += usd;
    this.#briefTokens += briefTokens;
    this.#briefUsd += briefUsd;
    let open = true;
    let bookedTokens = 0;
    let bookedUsd = 0;
    const book = (usedTokens: number, usedUsd: number): true => {
      this.#tokens += usedTokens - bookedTokens;
      this.#usd += usedUsd - bookedUsd;
      bookedTokens = usedTokens;
      bookedUsd = usedUsd;
      return true;
    };
    return {
      book,
      fits: (usedTokens: number, usedUsd: number): boolean => {
        checkAmounts('used', usedTokens, usedUsd);
        const [freeTokens, freeUsd] = this.#free();
        return open && usedTokens - bookedTokens <= freeTokens && usedUsd - bookedUsd <= freeUsd;
      },
      settle: (usedTokens: number, usedUsd: number, spending?: Spending | null) => {
        if (!open) return null;
        checkAmounts('used', usedTokens, usedUsd);
        open = false;
        this.#heldTokens -= tokens;
        this.#heldUsd -= usd;
        this.#briefTokens -= briefTokens;
        this.#briefUsd -= briefUsd;
        book(usedTokens, usedUsd);
        return this.#recorded(usedTokens, usedUsd, spending);
      },
    };
  }

  /** Returns the outcome of a request; undefined if it must wait. Adds the budget whose room it waits for. */
  #decided({ levels, request, isLast }: Waiter, awaited: Set<Budget>): BudgetHold | AgentError | undefined {
    const demand = {
      wanted: { ...request.wanted, requests: 1 },
      least: { ...request.least, requests: 1 },
      isLast,
    };
    const verdict = decideReservation(
      levels.map((level) => ({ ...level.#level(), isAwaited: awaited.has(level) })),
      demand,
    );
    if (verdict.state === 'held') return this.#holdIn(levels, verdict.amounts);
    if (verdict.state === 'waiting') {
      awaited.add(levels[verdict.level] as Budget);
      return undefined;
    }
    const amount = verdict.limit === 'requests' ? 'tokens' : verdict.limit;
    const of = levels[verdict.level] as Budget;
    const [max, spent, more] = [of.#limits[amount], of.#level().settled[amount], of.#given[amount]];
    const message = `The limit on ${amount} leaves no room for another request.`;
    return limitError(amount, message, { amount, max, spent, more, of });
  }

  /** Returns the amounts for a decision. Nobody waits for amounts that are reserved for long, so they count as spent. */
  #level(): Omit<BudgetLevel, 'isAwaited'> {
    const { tokens, usd } = this.#limits;
    const reserved = { tokens: this.#briefTokens, usd: this.#briefUsd, requests: 0 };
    const settled = {
      tokens: this.#tokens + this.#heldTokens - reserved.tokens,
      usd: this.#usd + this.#heldUsd - reserved.usd,
      requests: 0,
    };
    return { limits: { tokens, usd }, settled, reserved };
  }

  #holdIn(levels: readonly Budget[], { tokens, usd }: Amounts): BudgetHold {
    const parts = levels.map((level) => level.#held(tokens, usd, true));
    return {
      tokens,
      usd,
      again: (usedTokens, usedUsd) => {
        if (!parts.every((part) => part.fits(usedTokens, usedUsd))) return false;
        for (const part of parts) part.book(usedTokens, usedUsd);
        return true;
      },
      settle: (usedTokens, usedUsd, spending) => {
        let left = spending;
        for (const part of parts) left = part.settle(usedTokens, usedUsd, left);
        this.#serve();
      },
    };
  }
}
