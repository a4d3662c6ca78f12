export { type PostgresStore, type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
export type { WatchListener } from './watch.ts';
