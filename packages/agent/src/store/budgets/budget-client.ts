import type { Amounts } from '../../interfaces/amounts.ts';
import { amountNames, noAmounts } from '../../interfaces/amounts.ts';
import type { Budget } from '../../interfaces/budget.ts';
import { raisedLimits } from '../../interfaces/decide-reservation.ts';
import { limitError } from '../../interfaces/limits.ts';
import type { BudgetGrant } from '../../interfaces/reservation.ts';
import { backoff } from '../../values/backoff.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { amount, callable, read, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { isoTime, systemRuntime } from '../../values/runtime.ts';
import type { BudgetAlert } from './alerts.ts';
import type { BudgetBalance, BudgetStore, ReservationRequest, ReservationResult } from './budget-store.ts';
import { readRequest, unknownBudget } from './budget-store.ts';
import { readName } from './definition.ts';
import type { BudgetAccess } from './stored-budget.ts';
import { StoredBudget } from './stored-budget.ts';

/** Options of {@link BudgetClient}. */
export interface BudgetClientOptions {
  readonly store: BudgetStore;
  /** Maximum time that a request waits for others to settle their reservations, in milliseconds. Default 60,000. */
  readonly waitMs?: number;
  /** Receives the alerts of the store: see `BudgetStore.onAlert`. Default: none. */
  readonly onAlert?: (alert: BudgetAlert) => void;
  /** Default: the clock of this process. */
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer' | 'id'>;
}

const readOptions = record<BudgetClientOptions>(
  {
    store: withMethods('reserve', 'settle', 'grant', 'unsettled', 'balances'),
    waitMs: amount,
    onAlert: callable,
    runtime: withMethods('monotonic', 'timer', 'id'),
  },
  ['store'],
);

/** Delays between two questions to the store, which another process may have changed. */
const pollPause = { baseMs: 50, maxMs: 500 };

/** Delays between attempts to settle: about a minute together. */
const settlePause = { baseMs: 100, maxMs: 10_000 };
const maxSettleAttempts = 12;

/** A request that waits in this process. */
interface Waiter {
  readonly id: string;
  /** True if it can be among those that wait in the store. */
  hasPlace: boolean;
  /** True if something has changed since its last question. */
  isWoken: boolean;
  /** Why it was cancelled. */
  cancelled?: AgentError;
  /** Ends its pause. */
  wake(): void;
}

/** The reservations of one process in a budget store. Requests wait for room, and learn at once what this process frees. */
export class BudgetClient implements BudgetAccess {
  readonly #store: BudgetStore;
  readonly #waitMs: number;
  readonly #runtime: Pick<Runtime, 'monotonic' | 'timer' | 'id'>;
  readonly #waiters = new Set<Waiter>();
  readonly #open = new Set<Promise<void>>();

  /** @throws AgentError `invalid`, code `bad_option`, for an invalid option. */
  constructor(given: BudgetClientOptions) {
    const { store, waitMs = 60_000, onAlert, runtime = systemRuntime } = read(given, readOptions);
    if (onAlert !== undefined) store.onAlert(onAlert);
    this.#store = store;
    this.#waitMs = waitMs;
    this.#runtime = runtime;
  }

  /**
   * Returns a budget of the store for `RunOptions.budget`: the requests of such a run, and of everything that it starts,
   * are reserved and settled in the store. Its limits on turns and tool calls are those of the executor.
   * @throws AgentError `invalid`, code `no_budget`, if the budget is not defined.
   */
  async budget(givenName: string): Promise<Budget> {
    const name = read(givenName, readName, 'name');
    const path = await this.path(name);
    const limitsMoney = path.some(({ definition }) => definition.limits.usd !== undefined);
    return new StoredBudget({ name, client: this, store: this.#store, limitsMoney, runtime: this.#runtime });
  }

  /**
   * Returns the balances of a budget and of all budgets above it, from the budget to the root.
   * @throws AgentError `invalid`, code `no_budget`, if the budget is not defined.
   */
  async path(givenName: string): Promise<readonly BudgetBalance[]> {
    const path: BudgetBalance[] = [];
    for (let next: string | undefined = read(givenName, readName, 'name'); next !== undefined; ) {
      const [balance]: readonly BudgetBalance[] = await this.#store.balances([next]);
      if (balance === undefined) throw unknownBudget(next);
      path.push(balance);
      next = balance.definition.parent;
    }
    return path;
  }

  /**
   * Checks that something is left of a budget and of all budgets above it, because a run would otherwise end at once.
   * @throws AgentError `limit`, like `reserve`; `invalid`, code `no_budget`, if the budget is not defined.
   */
  async check(name: string): Promise<void> {
    for (const { definition, settled, granted, endsAt } of await this.path(name)) {
      // Each run has a balance of its own.
      if (definition.per === 'run') continue;
      const limits = raisedLimits(definition.limits, granted);
      for (const limit of amountNames) {
        const [max, spent, base] = [limits[limit], settled[limit], Number(definition.limits[limit])];
        const refused = { state: 'refused', budget: definition.name, limit, spent, base } as const;
        if (max !== undefined && spent >= max)
          throw limitReached({ ...refused, max, ...defined({ endsAt }) });
      }
    }
  }

  /**
   * Reserves amounts, and waits while other requests have reserved the room. After `waitMs`, takes the room that is left.
   * @throws AgentError `limit`, code `usd`, `tokens` or `turns`, if the budget leaves less than the request needs; `aborted`, code
   *   `cancelled`, after `cancel`; and the errors of the store.
   */
  async reserve(given: Omit<ReservationRequest, 'isLast'>): Promise<Amounts> {
    const request = read<ReservationRequest>(given, readRequest, 'request');
    const waiter: Waiter = { id: request.id, hasPlace: false, isWoken: false, wake: () => {} };
    this.#waiters.add(waiter);
    try {
      return await this.#held(request, waiter);
    } catch (error) {
      // Its place would hold up others. If this fails too, the store forgets the place after some time.
      if (waiter.hasPlace) await this.#store.settle(waiter.id, noAmounts).catch(() => undefined);
      throw error;
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  /** Ends the wait of a request, whose `reserve` then rejects. Does nothing if it does not wait. */
  cancel(givenId: string): void {
    const id = read(givenId, readName, 'id');
    const message = 'The caller cancelled the wait for room in a budget.';
    for (const waiter of this.#waiters) {
      if (waiter.id !== id) continue;
      waiter.cancelled = new AgentError({ kind: 'aborted', code: 'cancelled', message });
      wake(waiter);
    }
  }

  /** Replaces a reservation with what was used: see `BudgetStore.settle`. Waiting requests of this process retry at once. */
  async settle(id: string, used: Amounts): Promise<void> {
    await this.#store.settle(id, used);
    for (const waiter of this.#waiters) wake(waiter);
  }

  /** Lets a budget spend more: see `BudgetStore.grant`. Waiting requests of this process retry at once. */
  async grant(grant: BudgetGrant): Promise<void> {
    await this.#persist(() => this.#store.grant(grant));
    for (const waiter of this.#waiters) wake(waiter);
  }

  /** Settles without waiting, and tries again if the store cannot be reached. See `flush`. */
  settleLater(id: string, used: Amounts): void {
    this.#later(() => this.settle(id, used));
  }

  /** Charges what a request used without a reservation, and does not wait. See `flush`. */
  charge(budget: string, id: string, used: Amounts): void {
    const request = { id, budget, sessionId: id, runId: id, wanted: used, least: noAmounts, isLast: true };
    this.#later(async () => {
      await this.#store.reserve(request);
      await this.settle(id, used);
    });
  }

  /** Resolves when everything is settled, or the store could not be reached for a minute. Call it before you close the store. */
  async flush(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #later(settle: () => Promise<void>): void {
    const settled = this.#persist(settle)
      .catch(() => {})
      .finally(() => this.#open.delete(settled));
    this.#open.add(settled);
  }

  /** Repeats a call until it succeeds; rejects at once if it is invalid. What is never settled counts as spent in full. */
  async #persist(action: () => Promise<void>): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await action();
      } catch (error) {
        const isInvalid = AgentError.is(error) && error.kind === 'invalid';
        if (isInvalid || attempt === maxSettleAttempts - 1) throw error;
        await new Promise<void>((resolve) => {
          this.#runtime.timer(backoff(settlePause, attempt), resolve);
        });
      }
    }
  }

  async #held(request: ReservationRequest, waiter: Waiter): Promise<Amounts> {
    const deadline = this.#runtime.monotonic() + this.#waitMs;
    for (let poll = 0; ; poll += 1) {
      waiter.isWoken = false;
      const isLast = this.#runtime.monotonic() >= deadline;
      const result = await this.#store.reserve({ ...request, isLast });
      waiter.hasPlace = result.state !== 'refused';
      if (waiter.cancelled !== undefined) throw waiter.cancelled;
      if (result.state === 'held') return result.amounts;
      if (result.state === 'refused') throw limitReached(result);
      await this.#pause(waiter, Math.min(backoff(pollPause, poll), deadline - this.#runtime.monotonic()));
      if (waiter.cancelled !== undefined) throw waiter.cancelled;
      if (waiter.isWoken) poll = -1;
    }
  }

  /** Waits until the waiter is woken, or for a time. */
  async #pause(waiter: Waiter, ms: number): Promise<void> {
    if (waiter.isWoken) return;
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#runtime.timer(ms, resolve);
      waiter.wake = () => {
        cancelTimer();
        resolve();
      };
    });
  }
}

function wake(waiter: Waiter): void {
  waiter.isWoken = true;
  waiter.wake();
}

/** Creates the error of a run that reached a limit of a budget. Its requests are the turns of the run. */
function limitReached({
  budget,
  limit,
  max,
  base,
  spent,
  endsAt,
}: Extract<ReservationResult, { state: 'refused' }>): AgentError {
  const amount = limit === 'usd' ? `$${max}` : `${max} ${max === 1 ? limit.slice(0, -1) : limit}`;
  const next =
    endsAt === undefined ? '' : ` or wait for the budget's next period, which starts at ${isoTime(endsAt)}`;
  const message = `The limit of budget ${JSON.stringify(budget)} is ${amount}, which leaves too little for this request. Raise the limit${next}.`;
  const reached = { amount: limit, max, spent, more: base, budget };
  return limitError(limit === 'requests' ? 'turns' : limit, message, reached);
}
