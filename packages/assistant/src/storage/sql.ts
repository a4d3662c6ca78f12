/** Values of a SQLite column. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement and what is put into it. */
export interface SqlStatement {
  /** One statement in SQLite's dialect, parameters as `?1`, `?2`, ... */
  readonly text: string;
  readonly params?: readonly SqlValue[];
}

/** The result of a statement. */
export interface SqlAnswer {
  readonly rows: readonly SqlRow[];
  /** Number of rows that the statement changed. */
  readonly changes: number;
}

/**
 * A SQLite database, wherever it is: a file of this machine or D1. There are no transactions over several calls,
 * because D1 has none: what belongs together is one statement, or one batch.
 */
export interface Sql {
  run(text: string, params?: readonly SqlValue[]): Promise<SqlAnswer>;
  /** All statements or none, in order, nothing of others in between. */
  batch(statements: readonly SqlStatement[]): Promise<readonly SqlAnswer[]>;
}
