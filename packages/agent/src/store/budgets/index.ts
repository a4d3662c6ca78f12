/**
 * Budgets that outlive processes: what users, teams and deployments may spend, in a tree with periods.
 *
 * @module
 */

export type { Amounts } from '../../interfaces/amounts.ts';
export type { BudgetAlert } from './alerts.ts';
export { BudgetClient, type BudgetClientOptions } from './budget-client.ts';
export type {
  BudgetBalance,
  BudgetStore,
  OpenReservation,
  ReservationRequest,
  ReservationResult,
} from './budget-store.ts';
export type { Awaitable } from './budget-tables.ts';
export type { BudgetDefinition, BudgetPeriod } from './definition.ts';
export { type MemoryBudgetsOptions, memoryBudgets } from './memory-budgets.ts';
export { type SqlBudgetsOptions, sqlBudgets } from './sql-budgets.ts';
export { type BudgetSql, budgetSchema, type SqlValue } from './sql-tables.ts';
