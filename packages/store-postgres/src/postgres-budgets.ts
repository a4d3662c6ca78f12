import type { Runtime } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { BudgetSql, BudgetStore } from '@cobbler/agent/budgets';
import { budgetSchema, sqlBudgets } from '@cobbler/agent/budgets';
import { read, record, withMethods } from '@cobbler/agent/input';
import type { Connection, PostgresOptions } from './database.ts';
import { databaseReaders } from './database.ts';
import type { Tables } from './schema.ts';
import { migrate, openSchema } from './schema.ts';

/** Options of {@link postgresBudgets}: the database, and how processes share its budgets. */
export interface PostgresBudgetsOptions extends PostgresOptions {
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
  const { runtime = systemRuntime } = given;
  const { db, schema, leaseMs } = openSchema(given, 2, (connection) =>
    migrate(connection, schema, budgetTables),
  );
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
