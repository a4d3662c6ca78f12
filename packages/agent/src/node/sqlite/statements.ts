import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { isCorrupt } from './database-error.ts';

/**
 * The statements of one connection, each compiled once. Texts are constants of the program; what comes from outside
 * is bound to them and never part of them. Parameters are plain question marks: Node 22 does not bind numbered ones
 * by their place.
 */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #compiled = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** How many rows were changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#of(sql).run(...values).changes);
  }

  /** Inserts a row and gives its number. */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#of(sql).run(...values).lastInsertRowid);
  }

  /** The first row. `Row` has to say what the statement selects. */
  row<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#of(sql).get(...values) as Row | undefined;
  }

  /** The first row; nothing when there is none or the file is damaged where it is looked for. */
  unlessCorrupt<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    try {
      return this.row<Row>(sql, ...values);
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return undefined;
    }
  }

  /** All rows. */
  rows<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#of(sql).all(...values) as Row[];
  }

  /** Rows one by one. Each call has a statement of its own: one that was left in the middle cannot be used again. */
  each<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#db.prepare(sql).iterate(...values) as Iterable<Row>;
  }

  /** Reads as of one moment, whatever other processes write meanwhile. */
  atOnce<Value>(read: () => Value): Value {
    if (this.#db.isTransaction) return read();
    this.#of('BEGIN').run();
    try {
      return read();
    } finally {
      // Nothing was written. A commit would fail once more with what a statement has failed with.
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
