/**
 * Sessions in PostgreSQL, shared by any number of processes.
 *
 * @module
 */

export { type PostgresStore, type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
export type { WatchListener } from './watch.ts';
