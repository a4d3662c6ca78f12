import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

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

  /** All rows. */
  rows<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#of(sql).all(...values) as Row[];
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
