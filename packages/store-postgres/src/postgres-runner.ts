import type { Json, Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import { amount, callable, read, record, withMethods } from '@cobbler/agent/input';
import type { Runner, RunRetention, Workflow } from '@cobbler/agent/runner';
import { filledRetention, InboxRunner } from '@cobbler/agent/runner';
import type { Connection } from './database.ts';
import { Database, databaseReaders } from './database.ts';
import { PostgresOwner } from './owner.ts';
import { PostgresInbox } from './run-inbox.ts';
import { runTables } from './run-tables.ts';
import { checkSchemaName, migrate } from './schema.ts';

/** Options of {@link postgresRunner}: the workflow, the database, and how processes share its runs. */
export interface PostgresRunnerOptions<Input extends Json, Output extends Json> {
  readonly workflow: Workflow<Input, Output>;
  /** `postgres://user:password@host:5432/name` of the server, or of a pooler in transaction mode. */
  readonly url: string;
  /** Schema of the tables, created if missing; the same as that of the sessions. Default `cobbler`. */
  readonly schema?: string;
  /** Time without a heartbeat after which a process counts as dead, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** Interval of checks for changes by other processes, in milliseconds. Default 100. */
  readonly lookMs?: number;
  /** Maximum number of connections. Default 5. */
  readonly connections?: number;
  /** Time limit for retries when the database is unreachable, in milliseconds. Default 4,000. */
  readonly busyMs?: number;
  /** Time limit for one statement, in milliseconds. Default 10,000. */
  readonly statementMs?: number;
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
  const { workflow, url, schema = 'cobbler', leaseMs = 15_000, lookMs = 100, retention } = given;
  const { connections = 5, busyMs = 4000, statementMs = 10_000, runtime = systemRuntime } = given;
  checkSchemaName(schema);
  const kept = filledRetention(retention);
  const prepare = async (connection: Connection) => {
    await migrate(connection, schema);
    await migrate(connection, schema, runTables);
  };
  const db = new Database({ url, connections, busyMs, statementMs, prepare });
  const owner = new PostgresOwner(db, schema, leaseMs);
  const inbox = new PostgresInbox({
    db,
    schema,
    owner,
    leaseMs,
    lookMs,
    retention: kept,
    now: () => runtime.now(),
  });
  // The input of a run is what `start` received, and its output is what the workflow returned.
  const own = { inbox, runtime, workflow: workflow as unknown as Workflow };
  return new InboxRunner(own) as unknown as Runner<Input, Output>;
}
