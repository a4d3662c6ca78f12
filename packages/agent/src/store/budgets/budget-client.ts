import { backoff } from '../../values/backoff.ts';
import { AgentError } from '../../values/errors.ts';
import { amount, read, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { isoTime, systemRuntime } from '../../values/runtime.ts';
import type { BudgetStore, ReservationRequest, ReservationResult } from './budget-store.ts';
import { readRequest } from './budget-store.ts';
import type { Amounts } from './definition.ts';
import { noAmounts, readName } from './definition.ts';

/** Options of {@link BudgetClient}. */
export interface BudgetClientOptions {
  readonly store: BudgetStore;
  /** Maximum time that a request waits for others to settle their reservations, in milliseconds. Default 60,000. */
  readonly waitMs?: number;
  /** Default: the clock of this process. */
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
}

const readOptions = record<BudgetClientOptions>(
  {
    store: withMethods('reserve', 'settle'),
    waitMs: amount,
    runtime: withMethods('monotonic', 'timer'),
  },
  ['store'],
);

/** Delays between two questions to the store, which another process may have changed. */
const pollPause = { baseMs: 50, maxMs: 500 };

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

/** The reservations of one process in a budget store: waits for room, and lets requests of this process know at once. */
export class BudgetClient {
  readonly #store: BudgetStore;
  readonly #waitMs: number;
  readonly #runtime: Pick<Runtime, 'monotonic' | 'timer'>;
  readonly #waiters = new Set<Waiter>();

  /** @throws AgentError `invalid`, code `bad_option`, for an invalid option. */
  constructor(given: BudgetClientOptions) {
    const { store, waitMs = 60_000, runtime = systemRuntime } = read(given, readOptions);
    this.#store = store;
    this.#waitMs = waitMs;
    this.#runtime = runtime;
  }

  /**
   * Reserves amounts, and waits while other requests have reserved the room. After `waitMs`, takes the room there is.
   * @throws AgentError `limit`, code `budget_limit`, if the budget leaves less than the request needs; `aborted`, code
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

  /** Replaces a reservation by what was used: see `BudgetStore.settle`. Requests that wait in this process ask again at once. */
  async settle(id: string, used: Amounts): Promise<void> {
    await this.#store.settle(id, used);
    for (const waiter of this.#waiters) wake(waiter);
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

function limitReached(result: Extract<ReservationResult, { state: 'refused' }>): AgentError {
  const { budget, limit, max, endsAt } = result;
  const amount = limit === 'usd' ? `$${max}` : `${max} ${limit}`;
  const next = endsAt === undefined ? '' : ` or wait for its next period, which starts at ${isoTime(endsAt)}`;
  const message = `The limit of budget ${JSON.stringify(budget)} is ${amount}, which leaves too little for this request. Raise the limit${next}.`;
  return new AgentError({ kind: 'limit', code: 'budget_limit', message });
}
