import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { BudgetSql, BudgetStore } from '@cobbler/agent/budgets';
import { budgetSchema, sqlBudgets } from '@cobbler/agent/budgets';
import { read, record, withMethods } from '@cobbler/agent/input';
import type { Connection } from './database.ts';
import { Database, databaseReaders } from './database.ts';
import type { Tables } from './schema.ts';
import { checkSchemaName, migrate } from './schema.ts';

/** Options of {@link postgresBudgets}: the database, and how processes share its budgets. */
export interface PostgresBudgetsOptions {
  /** `postgres://user:password@host:5432/name` of the server, or of a pooler in transaction mode. */
  readonly url: string;
  /** Schema of the tables, created if missing; it can be the same as that of the sessions. Default `cobbler`. */
  readonly schema?: string;
  /** Time without a heartbeat after which a process counts as crashed, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** Maximum number of connections. Default 2. */
  readonly connections?: number;
  /** Time limit for retries when the database is unreachable, in milliseconds. Default 4,000. */
  readonly busyMs?: number;
  /** Time limit for one statement, in milliseconds. Default 10,000. */
  readonly statementMs?: number;
  /** Timers and ids. Default: the real ones. The clock is that of the database. */
  readonly runtime?: Pick<Runtime, 'timer' | 'id'>;
}

const readOptions = record<PostgresBudgetsOptions>(
  { ...databaseReaders, runtime: withMethods('timer', 'id') },
  ['url'],
);

/** Tables of the budgets, with a version of their own. */
const budgetTables: Tables = {
  mark: 'cobbler_budgets',
  migrations: [budgetSchema('$s.', 'bigserial PRIMARY KEY')],
};

/**
 * Opens budgets in PostgreSQL, for any number of processes on any number of machines.
 * @throws AgentError `invalid`, code `store_address`, `store_schema` or `bad_option`. Methods reject with the codes of
 *   `postgresStore`.
 */
export function postgresBudgets(options: PostgresBudgetsOptions): BudgetStore {
  const given = read(options, readOptions);
  const { url, schema = 'cobbler', leaseMs = 15_000, runtime = systemRuntime } = given;
  const { connections = 2, busyMs = 4000, statementMs = 10_000 } = given;
  checkSchemaName(schema);
  const prepare = async (connection: Connection) => {
    await migrate(connection, schema);
    await migrate(connection, schema, budgetTables);
  };
  const db = new Database({ url, connections, busyMs, statementMs, prepare });
  return sqlBudgets({
    runtime,
    leaseMs,
    transaction: (work) =>
      db.transaction(async (connection) => {
        // One at a time, because every decision reads what others have reserved.
        await connection.query(lock, [`budgets.${schema}`]);
        return await work(budgetSql(connection, schema));
      }),
    onClose: () => db.close(),
  });
}

const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** The time of the statement, because the transaction can have waited for the lock. */
const clock = 'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now';

function budgetSql(connection: Connection, schema: string): BudgetSql {
  return {
    prefix: `${schema}.`,
    async now() {
      const [row] = await connection.query<{ readonly now: number }>(clock);
      return Math.floor(Number(row?.now));
    },
    query: (text, values) => connection.query(numbered(text), values),
  };
}

const texts = new Map<string, string>();

/** Returns a statement with `$1`, `$2` in place of question marks. The statements are constants without other question marks. */
function numbered(text: string): string {
  let found = texts.get(text);
  if (found === undefined) {
    let count = 0;
    found = text.replace(/\?/g, () => `$${++count}`);
    texts.set(text, found);
  }
  return found;
}
