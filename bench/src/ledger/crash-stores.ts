import type { SessionStore } from '@cobbler/agent';
import type { BudgetStore } from '@cobbler/agent/budgets';
import { sqliteStore } from '@cobbler/agent/node';
import { sqliteBudgets } from '@cobbler/agent/sqlite-budgets';

/** After this time without a sign of life, what a killed process has reserved counts as spent, in milliseconds. */
export const leaseMs = 600;

/** Opens the sessions and budgets of the scenarios: in a directory, or in a PostgreSQL database if the place is a URL. */
export async function storesAt(place: string): Promise<{ store: SessionStore; budgets: BudgetStore }> {
  if (!place.startsWith('postgres'))
    return {
      store: sqliteStore(`${place}/sessions.db`),
      budgets: sqliteBudgets({ file: `${place}/budgets.db`, leaseMs }),
    };
  const { postgresStore } = await import('@cobbler/store-postgres');
  const { postgresBudgets } = await import('@cobbler/store-postgres/budgets');
  return { store: postgresStore({ url: place, leaseMs }), budgets: postgresBudgets({ url: place, leaseMs }) };
}
