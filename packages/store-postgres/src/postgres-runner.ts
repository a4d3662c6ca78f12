import type { Json, Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import { amount, callable, read, record, withMethods } from '@cobbler/agent/input';
import type { Runner, RunRetention, Workflow } from '@cobbler/agent/runner';
import { filledRetention, InboxRunner } from '@cobbler/agent/runner';
import type { PostgresOptions } from './database.ts';
import { databaseReaders } from './database.ts';
import { PostgresOwner } from './owner.ts';
import { PostgresInbox } from './run-inbox.ts';
import type { Tables } from './schema.ts';
import { migrate, openSchema } from './schema.ts';

/** Options of {@link postgresRunner}: the workflow, the database, and how processes share its runs. */
export interface PostgresRunnerOptions<Input extends Json, Output extends Json> extends PostgresOptions {
  readonly workflow: Workflow<Input, Output>;
  /** Interval between checks for changes by other processes, in milliseconds. Default 100. */
  readonly lookMs?: number;
  /** Retention of ended runs. Default: 30 days, and at most 10,000 runs. */
  readonly retention?: RunRetention;
  /** Clock and timers. Default: the real ones. */
  readonly runtime?: Runtime;
}

const readOptions = record<PostgresRunnerOptions<Json, Json>>(
  {
    ...databaseReaders,
    workflow: callable,
    lookMs: amount,
    retention: record<RunRetention>({ maxAgeMs: amount, maxRuns: amount }),
    runtime: withMethods('now', 'timer', 'random', 'digest'),
  },
  ['workflow', 'url'],
);

/**
 * Runs workflows durably on any number of machines, with the runs in PostgreSQL beside the sessions. One process works
 * on each run. If it stops renewing its lease, another one continues the run; epochs then prevent the first one from ending
 * the run and from writing to its session.
 * @throws AgentError `invalid`, code `store_address`, `store_schema`, `retention` or `bad_option`. Methods reject with the codes of
 * `postgresStore`.
 */
export function postgresRunner<Input extends Json, Output extends Json>(
  options: PostgresRunnerOptions<Input, Output>,
): Runner<Input, Output> {
  const given = read(options, readOptions);
  const { workflow, lookMs = 100, runtime = systemRuntime } = given;
  const retention = filledRetention(given.retention);
  const { db, schema, leaseMs } = openSchema(given, 5, (connection) =>
    migrate(connection, schema, runTables),
  );
  const owner = new PostgresOwner(db, schema, leaseMs);
  const inbox = new PostgresInbox({
    db,
    schema,
    owner,
    leaseMs,
    lookMs,
    retention,
    now: () => runtime.now(),
  });
  // The input of a run is what `start` received, and its output is what the workflow returned.
  const own = { inbox, runtime, workflow: workflow as unknown as Workflow };
  return new InboxRunner(own) as unknown as Runner<Input, Output>;
}

/**
 * Tables of the runs. They share the owners and the epochs of the sessions, and have a version of their own, so that
 * programs without a runner do not notice them.
 */
export const runTables: Tables = {
  mark: 'cobbler_runs',
  migrations: [
    `
    CREATE SEQUENCE $s.run_news;      -- raised by every change of a run or a signal
  
    CREATE TABLE $s.runs (
      number bigserial PRIMARY KEY,   -- the order of starts
      id text COLLATE "C" NOT NULL UNIQUE,
      queue text COLLATE "C",         -- runs of one queue are processed one after another
      state text NOT NULL,            -- open, done, failed, cancelled
      input text,                     -- JSON; null once the run has ended
      outcome text,                   -- JSON of the output or the error
      owner text,                     -- lock of the process that works on it
      epoch bigint NOT NULL,          -- of the one owner that may end it
      claim text NOT NULL,            -- token of the start or of the last claim
      due bigint NOT NULL,
      ended bigint
    );
    CREATE INDEX runs_queued ON $s.runs (queue, number) WHERE state = 'open';
    CREATE INDEX runs_open ON $s.runs (number) WHERE state = 'open';
    CREATE INDEX runs_ended ON $s.runs (ended) WHERE state <> 'open';
  
    CREATE TABLE $s.signals (
      run bigint NOT NULL,
      name text NOT NULL,
      text text,                      -- JSON; null if the wait for it ended first
      token text NOT NULL,            -- of the call that sent it
      PRIMARY KEY (run, name)
    );
    `,
  ],
};
