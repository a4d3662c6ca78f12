import type { Amounts } from '../../interfaces/amounts.ts';
import { noAmounts } from '../../interfaces/amounts.ts';
import { Budget, readHoldRequest } from '../../interfaces/budget.ts';
import type {
  BudgetGrant,
  BudgetHold,
  HoldListener,
  HoldRequest,
  PendingHold,
  RecordedUsage,
  Reservation,
} from '../../interfaces/reservation.ts';
import type { Spending } from '../../interfaces/spending.ts';
import { unnamedSpending } from '../../interfaces/spending.ts';
import { AgentError } from '../../values/errors.ts';
import { read } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { BudgetStore, ReservationRequest } from './budget-store.ts';

/** The reservations of this process in a store: see `BudgetClient`. */
export interface BudgetAccess {
  reserve(request: Omit<ReservationRequest, 'isLast'>): Promise<Amounts>;
  cancel(id: string): void;
  settle(id: string, used: Amounts): Promise<void>;
  settleLater(id: string, used: Amounts): void;
  charge(budget: string, id: string, used: Amounts): void;
  grant(grant: BudgetGrant): Promise<void>;
}

/** Options of {@link StoredBudget}. */
export interface StoredBudgetOptions {
  /** Name of the budget in the store. */
  readonly name: string;
  readonly client: BudgetAccess;
  readonly store: Pick<BudgetStore, 'unsettled'>;
  readonly limitsMoney: boolean;
  readonly runtime: Pick<Runtime, 'id'>;
}

/** The id of a reservation for a request or a retry: other ids belong to callers, who settle them. */
const ownId = /^(.*:(after|call):(\d+))(:\d+)?$/;

/** A budget of a store as the runs of this process see it: every request is also reserved and settled in the store. */
export class StoredBudget extends Budget {
  readonly #options: StoredBudgetOptions;

  constructor(options: StoredBudgetOptions) {
    super();
    this.#options = options;
  }

  override get isLimited(): boolean {
    return true;
  }

  override get limitsMoney(): boolean {
    return this.#options.limitsMoney;
  }

  /** Charges the store when it is settled, because a caller that cannot wait cannot reserve there. */
  override reserve(tokens: number, usd: number): Reservation {
    const local = super.reserve(tokens, usd);
    const { name, client, runtime } = this.#options;
    let isOpen = true;
    return {
      again: (usedTokens, usedUsd) => local.again(usedTokens, usedUsd),
      settle: (usedTokens, usedUsd, spending) => {
        local.settle(usedTokens, usedUsd, spending);
        if (isOpen && usedTokens + usedUsd > 0)
          client.charge(name, runtime.id(), { tokens: usedTokens, usd: usedUsd, requests: 1 });
        isOpen = false;
      },
    };
  }

  override spend(tokens: number, usd: number, spending?: Spending | null): void {
    super.spend(tokens, usd, spending);
    const { name, client, runtime } = this.#options;
    if (tokens + usd > 0) client.charge(name, runtime.id(), { tokens, usd, requests: 1 });
  }

  override hold(request: HoldRequest, listener: HoldListener, below: readonly Budget[] = []): PendingHold {
    const { name, client, runtime } = this.#options;
    const { sessionId, runId, seq, least, isOfCall } = read(request, readHoldRequest, 'request');
    const id = `${runtime.id()}:${isOfCall ? 'call' : 'after'}:${seq}`;
    let isCancelled = false;
    const reserved = async (local: BudgetHold): Promise<void> => {
      try {
        const { tokens, usd } = local;
        const amounts = await client.reserve({
          ...{ id, budget: name, sessionId, runId },
          wanted: { tokens, usd, requests: 1 },
          least: { ...least, requests: 1 },
        });
        const held = this.#storedHold({ ...request, id }, { ...local, ...amounts });
        if (isCancelled) held.settle(0, 0);
        else listener(held);
      } catch (error) {
        local.settle(0, 0);
        if (!isCancelled) listener(AgentError.from(error));
      }
    };
    const local = super.hold(
      request,
      (outcome) => (AgentError.is(outcome) ? listener(outcome) : void reserved(outcome)),
      below,
    );
    return {
      decide: () => local.decide(),
      cancel: () => {
        isCancelled = true;
        local.cancel();
        client.cancel(id);
      },
    };
  }

  override async recover(sessionId: string, recorded: RecordedUsage): Promise<void> {
    const { client, store } = this.#options;
    for (const { id } of await store.unsettled(sessionId)) {
      const [, first, kind, seq, retry] = ownId.exec(id) ?? [];
      const used =
        seq === undefined ? undefined : await recorded(Number(seq), kind === 'call' ? first : undefined);
      if (used === undefined) continue;
      // As a running process counts it: each attempt is a request, and the usage of the first contains that of the others.
      const isUnused = used.tokens + used.usd === 0;
      const amounts = retry === undefined ? used : noAmounts;
      await client.settle(id, isUnused ? noAmounts : { ...amounts, requests: 1 });
    }
  }

  override grant(grant: BudgetGrant): Promise<void> {
    return this.#options.client.grant(grant);
  }

  #storedHold(request: HoldRequest & { readonly id: string }, local: BudgetHold): BudgetHold {
    const { name, client } = this.#options;
    const { id, sessionId, runId, isOfCall } = request;
    const retries: string[] = [];
    let used = noAmounts;
    let isOpen = true;
    return {
      ...local,
      again: async (tokens, usd) => {
        if (!(await local.again(tokens, usd))) return false;
        const wanted = { tokens: tokens - used.tokens, usd: usd - used.usd, requests: 1 };
        const retry = `${id}:${retries.length + 1}`;
        await client.reserve({ id: retry, budget: name, sessionId, runId, wanted, least: wanted });
        retries.push(retry);
        used = { tokens, usd, requests: used.requests + 1 };
        return true;
      },
      settle: (tokens, usd, spending) => {
        const isUnnamed = spending === undefined && tokens + usd > 0;
        const named = isUnnamed ? unnamedSpending(tokens, usd) : spending;
        local.settle(tokens, usd, isOfCall === true && named ? { ...named, reservation: id } : spending);
        if (!isOpen) return;
        isOpen = false;
        const isUnused = tokens + usd === 0;
        client.settleLater(id, isUnused ? noAmounts : { tokens, usd, requests: 1 + retries.length });
        for (const retry of retries) client.settleLater(retry, noAmounts);
      },
    };
  }
}
