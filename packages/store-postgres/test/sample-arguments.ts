import { fakeRuntime } from '@cobbler/agent/testing';

const url = 'postgres://user@127.0.0.1:9/none';
/** Not a plain object, so that its functions are not replaced by others, which the runner calls when it is created. */
const runtime: unknown = Object.create(fakeRuntime());
const retention = { maxAgeMs: 1_000, maxRuns: 10 };

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  postgresStore: () => [
    {
      ...{
        url,
        listenUrl: url,
        schema: 'cobbler',
        exclusion: 'lease',
        leaseMs: 100,
        connections: 1,
        busyMs: 1,
      },
      ...{ statementMs: 10, pollMs: 10, slowPollMs: 10, now: () => 1 },
    },
  ],
  postgresBudgets: () => [
    { url, schema: 'cobbler', leaseMs: 100, connections: 1, busyMs: 1, statementMs: 10, runtime },
  ],
  postgresRunner: () => [
    {
      ...{ workflow: async () => 'Done.', url, schema: 'cobbler', leaseMs: 100, lookMs: 10, connections: 1 },
      ...{ busyMs: 1, statementMs: 10, retention, runtime },
    },
  ],
};

const needsDatabase = 'no argument is valid without a database: see arguments.test.ts';

const exceptions: Readonly<Record<string, string>> = {
  'postgresStore().append': needsDatabase,
  'postgresStore().keepSnapshot': needsDatabase,
  'postgresStore().rename': needsDatabase,
  'postgresStore().share': needsDatabase,
  'postgresRunner().start': needsDatabase,
  'postgresRunner().signal': needsDatabase,
};

export const sampleTable: { readonly samples: typeof samples; readonly exceptions: typeof exceptions } = {
  samples,
  exceptions,
};
