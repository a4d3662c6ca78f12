import type { StoreSubject } from '@cobbler/conformance';
import { postgresStore } from '../src/index.ts';
import type { PostgresStoreOptions } from '../src/postgres-store.ts';

let places = 0;

/** Returns a subject with one schema per case, all in the same database. */
export function postgresSubject(
  name: string,
  options: () => Omit<PostgresStoreOptions, 'schema' | 'now'>,
): StoreSubject {
  return {
    name,
    noMail: 'a lease or a runner decides which process runs a session',
    noSearch: 'the store has no full-text search',
    place(now) {
      places += 1;
      const schema = `place_${process.pid}_${places}`;
      return { open: () => postgresStore({ ...options(), schema, now, connections: 4 }) };
    },
  };
}
