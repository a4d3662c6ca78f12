import { AgentError } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { read, withMethods } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { Sql, SqlAnswer, SqlRow, SqlStatement, SqlValue } from '../storage/sql.ts';
import { withReadStatements } from '../storage/sql.ts';

/** The part of a D1 binding that is used: https://developers.cloudflare.com/d1/worker-api/ */
export interface D1 {
  prepare(text: string): D1Statement;
  batch(statements: D1Statement[]): Promise<readonly D1Answer[]>;
}

/** The part of a prepared statement of D1 that is used. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<D1Answer>;
}

/** The part of a D1 result that is used. */
export interface D1Answer {
  readonly results?: readonly Record<string, unknown>[];
  readonly meta: Readonly<Record<string, unknown>>;
}

const readD1: Reader<D1> = withMethods('prepare', 'batch');

/**
 * Opens a D1 database to which the migrations were applied with `wrangler d1 migrations apply`.
 * @throws AgentError `invalid` for a value that is not a binding of D1.
 */
export function d1Sql(d1: D1): Sql {
  const database = read(d1, readD1, 'd1');
  const prepareStatement = ({ text, params = [] }: SqlStatement) =>
    database.prepare(text).bind(...params.map(toD1Value));
  return withReadStatements({
    async run(text, params = []) {
      try {
        return answerOf(await prepareStatement({ text, params }).all());
      } catch (error) {
        throw d1Error(error);
      }
    },
    async batch(statements) {
      // D1 rejects an empty batch.
      if (statements.length === 0) return [];
      try {
        return (await database.batch(statements.map(prepareStatement))).map(answerOf);
      } catch (error) {
        throw d1Error(error);
      }
    },
  });
}

/** Converts a value for D1, which accepts neither larger integers than JavaScript nor a view of a larger buffer. */
function toD1Value(value: SqlValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Uint8Array ? value.slice().buffer : value;
}

function answerOf({ results = [], meta }: D1Answer): SqlAnswer {
  const { changes } = meta;
  return { rows: results.map(rowOf), changes: typeof changes === 'number' ? changes : 0 };
}

function rowOf(row: Record<string, unknown>): SqlRow {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, fromD1Value(value)]));
}

/** Converts a value from D1, which returns bytes as an array of numbers. */
function fromD1Value(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (Array.isArray(value)) return Uint8Array.from(value.map(Number));
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return null;
}

/** Messages of D1 errors after which a retry helps: https://developers.cloudflare.com/d1/observability/debug-d1/ */
const passing =
  /network connection lost|storage caused object to be reset|reset because its code was updated|starting up|overloaded|too many requests queued|internal error/i;

/** Messages for a request that exceeds a limit. */
const tooBig = /too big|toobig|exceeds|maximum .* size/i;

function d1Error(thrown: unknown): AgentError {
  const { cause } = AgentError.from(thrown);
  const reason = cause?.message ?? String(thrown);
  const fields = { message: `The D1 database failed: ${reason}`, ...defined({ cause }) };
  if (/no such table/i.test(reason))
    return new AgentError({
      ...fields,
      kind: 'invalid',
      code: 'store_schema',
      message: `The D1 database lacks a table (${reason}). Apply the migrations: wrangler d1 migrations apply.`,
    });
  if (tooBig.test(reason)) return new AgentError({ ...fields, kind: 'invalid', code: 'too_large' });
  return new AgentError({ ...fields, kind: 'agent', code: 'store', retryable: passing.test(reason) });
}
