/** Value of a SQLite column. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A row by column names. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement and its parameters. */
export interface SqlStatement {
  /** One statement in SQLite's dialect, with parameters such as `?1` and `?2`. */
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
 * A SQLite database in a local file or D1. D1 has no transactions that span several calls, so statements that belong
 * together are one statement or one batch.
 */
export interface Sql {
  run(text: string, params?: readonly SqlValue[]): Promise<SqlAnswer>;
  /** Executes all statements in one transaction, in order, or none of them. */
  batch(statements: readonly SqlStatement[]): Promise<readonly SqlAnswer[]>;
}
