import type { Amounts } from '../../interfaces/amounts.ts';
import { amountNames, noAmounts } from '../../interfaces/amounts.ts';
import { defined } from '../../values/defined.ts';
import type { BalanceKey, BudgetTables } from './budget-tables.ts';
import { periodEnd } from './period.ts';

/** A budget whose spending has reached one of its shares for the first time in a period. */
export interface BudgetAlert {
  readonly budget: string;
  /**
   * The share of the limit that was reached, in percent: one of those in the definition of the budget. 100 is also reached
   * when the rest is too small for a request.
   */
  readonly share: number;
  /** The limit that was reached, and the maximum in one period. */
  readonly limit: keyof Amounts;
  readonly max: number;
  /** How much of it is spent. */
  readonly settled: number;
  /** The period, such as `2026-01-31`; empty for a budget without periods. */
  readonly period: string;
  /** The start of the next period, in milliseconds since 1970; absent if time does not end this one. */
  readonly endsAt?: number;
}

/**
 * Returns the alerts of budgets whose settled amounts have grown, and records them in the same transaction, so that each share
 * alerts once in a period whatever process reaches it.
 * @param refused the limit that leaves too little for a request: all of it counts as spent.
 */
export async function alertsIn(
  tables: BudgetTables,
  keys: readonly BalanceKey[],
  refused?: keyof Amounts,
): Promise<readonly BudgetAlert[]> {
  const alerts: BudgetAlert[] = [];
  for (const key of keys) {
    const definition = await tables.budget(key.budget);
    if (definition?.alerts === undefined) continue;
    const { settled } = await tables.balance(key, 0);
    const endsAt = periodEnd(definition, await tables.now());
    for (const share of definition.alerts) {
      const spent = amountNames.find(
        (name) => settled[name] > 0 && isReached(share, settled[name], definition.limits[name]),
      );
      const limit = spent ?? (share === 100 ? refused : undefined);
      if (limit === undefined || !(await isFirst(tables, key, share))) continue;
      const [, period = ''] = /^\S+ (.*)$/.exec(key.period) ?? [];
      const max = Number(definition.limits[limit]);
      alerts.push({
        budget: key.budget,
        share,
        limit,
        max,
        settled: settled[limit],
        period,
        ...defined({ endsAt }),
      });
    }
  }
  return alerts;
}

function isReached(share: number, settled: number, max: number | undefined): boolean {
  return max !== undefined && settled * 100 >= max * share;
}

/** Records an alert as the balance of a period of its own. Returns false if it was recorded before. */
async function isFirst(
  tables: BudgetTables,
  { budget, period }: BalanceKey,
  share: number,
): Promise<boolean> {
  const key = { budget, period: `alert ${share} ${period}` };
  const { settled } = await tables.balance(key, 0);
  if (settled.requests > 0) return false;
  await tables.add(key, { ...noAmounts, requests: 1 });
  return true;
}
