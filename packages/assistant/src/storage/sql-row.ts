import { AgentError } from '@cobbler/agent';
import type { SqlRow } from './sql.ts';

/** A column that always holds a text. @throws AgentError `agent`, code `store`, when it does not. */
export function textIn(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw unexpected(column, 'text');
}

/** A column that holds a text or nothing. */
export function textOrNone(row: SqlRow | undefined, column: string): string | undefined {
  const value = row?.[column];
  return typeof value === 'string' ? value : undefined;
}

/** A column that always holds a number. @throws AgentError `agent`, code `store`, when it does not. */
export function numberIn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  throw unexpected(column, 'number');
}

/** A column that holds a number or nothing. */
export function numberOrNone(row: SqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function unexpected(column: string, kind: string): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'store_damaged',
    message: `The database contains no ${kind} in the column ${column}: another program changed it.`,
  });
}
