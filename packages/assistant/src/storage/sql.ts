import type { Reader } from '@cobbler/agent/input';
import { listOf, optional, record, text, when, withArguments, withMethods } from '@cobbler/agent/input';

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

/** Reads a database. */
export const readSql: Reader<Sql> = withMethods('run', 'batch');

const readValue = when<SqlValue>(
  (value) =>
    value === null || ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Uint8Array,
  'a string, a number, a bigint, a Uint8Array or null',
);

const params = listOf(readValue);

const readStatement = record<SqlStatement>({ text, params }, ['text']);

/** Makes the functions of a database read their arguments. */
export function withReadStatements<Kind extends Sql>(sql: Kind): Kind {
  return withArguments<Sql>(sql, {
    run: { text, params: optional(params) },
    batch: { statements: listOf(readStatement) },
  }) as Kind;
}
