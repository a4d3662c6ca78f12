/**
 * Budgets in PostgreSQL, for any number of processes.
 *
 * @module
 */

export { type PostgresBudgetsOptions, postgresBudgets } from './postgres-budgets.ts';
