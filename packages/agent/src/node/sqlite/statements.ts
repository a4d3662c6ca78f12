import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { isCorrupt } from './database-error.ts';

/**
 * The prepared statements of one connection, each compiled once. SQL is constant; external values are always bound as
 * parameters. Parameters are plain question marks, because Node 22 does not bind numbered ones by position.
 */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #compiled = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#of(sql).run(...values).changes);
  }

  /** Inserts a row and returns its number. */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#of(sql).run(...values).lastInsertRowid);
  }

  /** Returns the first row. `Row` must match what the statement selects. */
  row<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#of(sql).get(...values) as Row | undefined;
  }

  /** Returns the first row, or undefined if there is none or the file is damaged at that point. */
  unlessCorrupt<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    try {
      return this.row<Row>(sql, ...values);
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return undefined;
    }
  }

  rows<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#of(sql).all(...values) as Row[];
  }

  /** Returns an iterator over the rows. Each call prepares a statement, because an unfinished iteration blocks its own. */
  each<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#db.prepare(sql).iterate(...values) as Iterable<Row>;
  }

  /** Runs `read` in one transaction, so that it sees a consistent state while other processes write. */
  atOnce<Value>(read: () => Value): Value {
    if (this.#db.isTransaction) return read();
    this.#of('BEGIN').run();
    try {
      return read();
    } finally {
      // Nothing was written. After a failed statement, a commit would fail with the same error.
      if (this.#db.isTransaction) this.#of('ROLLBACK').run();
    }
  }

  #of(sql: string): StatementSync {
    let statement = this.#compiled.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#compiled.set(sql, statement);
    }
    return statement;
  }
}
