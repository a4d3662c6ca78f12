import { AgentError } from '@cobbler/agent';
import type { SqlRow } from './sql.ts';

/** Returns a string column. @throws AgentError `agent`, code `store`, if it contains anything else. */
export function textIn(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw unexpected(column, 'text');
}

/** Returns a string column; undefined for null. */
export function textOrNone(row: SqlRow | undefined, column: string): string | undefined {
  const value = row?.[column];
  return typeof value === 'string' ? value : undefined;
}

/** Returns a number column. @throws AgentError `agent`, code `store`, if it contains anything else. */
export function numberIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  throw unexpected(column, 'number');
}

/** Returns a number column; undefined for null. */
export function numberOrNone(row: SqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function unexpected(column: string, kind: string): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'store_damaged',
    message: `The column ${column} in the database does not contain a ${kind}: another program has changed the database.`,
  });
}
