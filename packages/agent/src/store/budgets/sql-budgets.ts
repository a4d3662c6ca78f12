import { amount, callable, read, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { BudgetBook } from './budget-book.ts';
import type { BudgetStore } from './budget-store.ts';
import type { BudgetSql } from './sql-tables.ts';
import { SqlTables } from './sql-tables.ts';

/** Options of {@link sqlBudgets}. */
export interface SqlBudgetsOptions {
  readonly runtime: Pick<Runtime, 'timer' | 'id'>;
  /** Time without a sign of life after which a process counts as crashed, in milliseconds. */
  readonly leaseMs: number;
  /**
   * Runs work in one transaction, which waits for those of other processes that use the same tables. Never called
   * while another call is running. May repeat the work if the outcome of its commit is unknown.
   */
  readonly transaction: <Value>(work: (sql: BudgetSql) => Promise<Value>) => Promise<Value>;
  /** Closes the database. */
  readonly onClose: () => Promise<void>;
}

const readOptions = record<SqlBudgetsOptions>(
  { runtime: withMethods('timer', 'id'), leaseMs: amount, transaction: callable, onClose: callable },
  ['runtime', 'leaseMs', 'transaction', 'onClose'],
);

/**
 * Returns budgets in the tables of {@link budgetSchema}, for the author of a store.
 * @throws AgentError `invalid`, code `bad_option`, for an invalid option.
 */
export function sqlBudgets(given: SqlBudgetsOptions): BudgetStore {
  const { transaction, ...options } = read(given, readOptions);
  return new BudgetBook({
    ...options,
    transaction: (work) => transaction((sql) => work(new SqlTables(sql))),
  });
}
