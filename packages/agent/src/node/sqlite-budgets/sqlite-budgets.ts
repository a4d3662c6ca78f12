/**
 * Budgets in a SQLite file, shared by the processes of one machine.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite';
import type { BudgetStore } from '../../store/budgets/budget-store.ts';
import { sqlBudgets } from '../../store/budgets/sql-budgets.ts';
import type { BudgetSql } from '../../store/budgets/sql-tables.ts';
import { budgetSchema } from '../../store/budgets/sql-tables.ts';
import { backoff } from '../../values/backoff.ts';
import { amount, read, record, text, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { isBusy, storeError } from '../sqlite/database-error.ts';
import type { FileKind } from '../sqlite/database-file.ts';
import { openDatabase } from '../sqlite/database-file.ts';
import { Statements } from '../sqlite/statements.ts';

/** Options of {@link sqliteBudgets}. */
export interface SqliteBudgetsOptions {
  /** Path of the database. A missing directory or file is created, accessible only to its owner. */
  readonly file: string;
  /** Default: the clock of this process. */
  readonly runtime?: Pick<Runtime, 'now' | 'monotonic' | 'timer' | 'id'>;
  /** Time after which a process that shows no sign of life counts as crashed, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** Maximum time to wait for another process that is writing, in milliseconds. Default 4,000. */
  readonly busyMs?: number;
}

const readOptions = record<SqliteBudgetsOptions>(
  {
    file: text,
    runtime: withMethods('now', 'monotonic', 'timer', 'id'),
    leaseMs: amount,
    busyMs: amount,
  },
  ['file'],
);

/** "CobB" in ASCII. */
const budgetFile: FileKind = { applicationId: 0x436f6242, contents: 'budgets' };

/** A released migration never changes; a change to the schema is a new migration. */
const migrations: readonly string[] = [
  `${budgetSchema('', 'INTEGER PRIMARY KEY AUTOINCREMENT')}
  CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT INTO counters VALUES ('epoch', 0);
  `,
];

/** Delays while another process writes, which takes milliseconds. */
const busyPause = { baseMs: 1, maxMs: 50 };

/**
 * Opens budgets in a file that several processes of one machine can use at the same time. What is settled survives the
 * end of a process at any moment.
 * @throws AgentError that states the problem with the file and how to fix it, with the codes of `sqliteStore`.
 */
export function sqliteBudgets(given: SqliteBudgetsOptions): BudgetStore {
  const options = read(given, readOptions);
  const { file, runtime = systemRuntime, leaseMs = 15_000, busyMs = 4000 } = options;
  const db = openDatabase(file, { maxBytes: undefined, onWrite: () => {}, migrations, kind: budgetFile });
  const statements = new Statements(db);
  const sql: BudgetSql = {
    prefix: '',
    now: () => runtime.now(),
    query: (text, values) => statements.rows(text, ...values),
  };
  return sqlBudgets({
    runtime,
    leaseMs,
    async transaction(work) {
      try {
        await begin(db, runtime, busyMs);
        return await committed(db, () => work(sql));
      } catch (error) {
        throw storeError(error, file, 'budgets');
      }
    },
    onClose: async () => db.close(),
  });
}

type Clock = NonNullable<SqliteBudgetsOptions['runtime']>;

/** Starts a transaction that writes. Waits while another process writes. */
async function begin(db: DatabaseSync, runtime: Clock, busyMs: number): Promise<void> {
  const deadline = runtime.monotonic() + busyMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return db.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (!isBusy(error) || runtime.monotonic() >= deadline) throw error;
      await new Promise<void>((resolve) => {
        runtime.timer(backoff(busyPause, attempt), resolve);
      });
    }
  }
}

/** Commits what the work wrote, or undoes it. */
async function committed<Value>(db: DatabaseSync, work: () => Promise<Value>): Promise<Value> {
  try {
    const value = await work();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
