import type { Amounts, BudgetStore, ReservationRequest, ReservationResult } from '@cobbler/agent/budgets';
import { expectEqual } from '@cobbler/agent/testing';

/** Returns amounts of one request. */
export function dollars(usd: number, tokens = 0): Amounts {
  return { usd, tokens, requests: 1 };
}

/** Returns a request for `usd` dollars, of which it needs at least `least`. */
export function asked(id: string, budget: string, usd: number, least: number = usd): ReservationRequest {
  const [sessionId, runId] = [`session-${id}`, `run-${id}`];
  return { id, budget, sessionId, runId, wanted: dollars(usd), least: dollars(least) };
}

/** Reserves `usd` dollars and returns the result in one line. */
export async function reserve(
  store: BudgetStore,
  id: string,
  budget: string,
  usd: number,
  more: Partial<ReservationRequest> = {},
): Promise<string> {
  return lineOf(await store.reserve({ ...asked(id, budget, usd), ...more }));
}

function lineOf(result: ReservationResult): string {
  switch (result.state) {
    case 'held':
      return `held ${result.amounts.usd}`;
    case 'waiting':
      return `waiting for ${result.budget}`;
    case 'refused':
      return `refused by ${result.limit} of ${result.budget}`;
  }
}

/** Expects the settled and reserved dollars of a budget. */
export async function expectBalance(
  store: BudgetStore,
  budget: string,
  settled: number,
  reserved: number,
): Promise<void> {
  const [balance] = await store.balances([budget]);
  expectEqual(
    { settled: balance?.settled.usd, reserved: balance?.reserved.usd },
    { settled, reserved },
    `the balance of ${budget}`,
  );
}
