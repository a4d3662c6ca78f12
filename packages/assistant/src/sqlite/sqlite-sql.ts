import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { callable, read, record, text, withMethods } from '@cobbler/agent/input';
import type { FileKind, OnWrite } from '@cobbler/agent/node';
import { isBusy, openDatabase, storeError } from '@cobbler/agent/node';
import { backoff } from '@cobbler/agent/values';
import { migrations, migrationText } from '../storage/schema.ts';
import type { Sql, SqlAnswer, SqlRow, SqlStatement, SqlValue } from '../storage/sql.ts';
import { withReadStatements } from '../storage/sql.ts';

/** The SQLite application id: "CobA" in ASCII. */
const chatFile: FileKind = { applicationId: 0x436f6241, contents: 'chats' };

/** Time that a statement waits for another process to finish writing, in milliseconds. */
const busyTimeoutMs = 5000;

/** Maximum number of prepared statements in the cache. */
const maxPrepared = 100;

/** Options of {@link sqliteSql}: the file and its runtime. */
export interface SqliteSqlOptions {
  /** Path of the database, created if it is missing. */
  readonly file: string;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Called at every stage of every write, for tests that end the process there. */
  readonly onWrite?: OnWrite;
}

/** A database in a local file. */
export interface SqliteSql extends Sql {
  /** Closes the file. Statements that are still waiting for another process fail with code `closed`. */
  close(): void;
}

const readOptions = record<SqliteSqlOptions>(
  { file: text, runtime: withMethods('monotonic', 'timer'), onWrite: callable },
  ['file'],
);

/**
 * Opens the file of an assistant. Several processes can have it open at the same time.
 * @throws AgentError `invalid` with code `bad_option`, `store_damaged`, `store_newer`, `store_foreign`, `store_readonly`,
 * `store_missing` or `store_unreachable`; `agent` with code `store_busy` or `store_full`.
 */
export function sqliteSql(options: SqliteSqlOptions): SqliteSql {
  const { file, runtime = systemRuntime, onWrite = () => {} } = read(options, readOptions);
  const db = openDatabase(file, {
    maxBytes: undefined,
    onWrite,
    migrations: migrations.map(migrationText),
    kind: chatFile,
  });
  // A message recorded as being sent must still be recorded after a power failure.
  db.exec('PRAGMA synchronous = FULL');
  const prepared = new Map<string, StatementSync>();
  const statementOf = (text: string): StatementSync => {
    const found = prepared.get(text) ?? db.prepare(text);
    prepared.delete(text);
    prepared.set(text, found);
    const [oldest] = prepared.keys();
    if (prepared.size > maxPrepared && oldest !== undefined) prepared.delete(oldest);
    return found;
  };
  const execute = ({ text, params = [] }: SqlStatement): SqlAnswer => answerOf(db, statementOf(text), params);

  /** Retries while another process holds the file, usually for milliseconds, without blocking. */
  async function patiently<Value>(work: () => Value): Promise<Value> {
    const deadline = runtime.monotonic() + busyTimeoutMs;
    for (let retry = 0; ; retry += 1) {
      if (!db.isOpen) throw closedError(file);
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || runtime.monotonic() >= deadline) throw storeError(error, file, 'chats');
        await new Promise<void>(
          (resume) => void runtime.timer(backoff({ baseMs: 2, maxMs: 50 }, retry), resume),
        );
      }
    }
  }

  return withReadStatements<SqliteSql>({
    run: (text, params = []) => patiently(() => runSingle(text, onWrite, () => execute({ text, params }))),
    batch: (statements) => patiently(() => runTransaction(db, onWrite, () => statements.map(execute))),
    close() {
      prepared.clear();
      if (db.isOpen) db.close();
    },
  });
}

function answerOf(db: DatabaseSync, statement: StatementSync, params: readonly SqlValue[]): SqlAnswer {
  if (statement.columns().length === 0)
    return { rows: [], changes: Number(statement.run(...params).changes) };
  // A statement that returns rows may also change some, with RETURNING. Only the connection knows how many.
  const before = totalChanges(db);
  const rows: SqlRow[] = statement.all(...params);
  return { rows, changes: totalChanges(db) - before };
}

const counters = new WeakMap<DatabaseSync, StatementSync>();

function totalChanges(db: DatabaseSync): number {
  const counter = counters.get(db) ?? db.prepare('SELECT total_changes() AS n');
  counters.set(db, counter);
  return Number(counter.get()?.['n']);
}

/** Executes one statement as its own transaction; a read takes no write lock. */
function runSingle<Value>(text: string, onWrite: OnWrite, work: () => Value): Value {
  if (/^\s*SELECT\b/i.test(text)) return work();
  onWrite('begin');
  const value = work();
  onWrite('done');
  return value;
}

/** Executes a transaction without interruption: SQLite returns synchronously, and there is no await here. */
function runTransaction<Value>(db: DatabaseSync, onWrite: OnWrite, work: () => Value): Value {
  onWrite('begin');
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    onWrite('commit');
    db.exec('COMMIT');
    onWrite('done');
    return value;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function closedError(file: string): AgentError {
  const message = `${file} is closed; nothing was done.`;
  return new AgentError({ kind: 'invalid', code: 'closed', message });
}
