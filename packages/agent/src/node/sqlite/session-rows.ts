import type { Share } from '../../store/session-info.ts';
import { AgentError } from '../../values/errors.ts';
import { checksum } from './checksum.ts';
import { isCorrupt } from './database-error.ts';
import type { SessionLog } from './session-log.ts';
import type { Statements } from './statements.ts';

/** A stored session. */
export interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly created: number;
  /** Null until the session has an event. */
  readonly updated: number | null;
  readonly title: string | null;
  readonly parent: string | null;
  readonly parent_seq: number | null;
  readonly sum: number | null;
  /** JSON after its checksum. */
  readonly shares: string | null;
  /** True if the row was reconstructed from the session's events because it is damaged. */
  readonly isMade?: true;
}

/** A session with at least one event. */
export type ListedRow = SessionRow & { readonly updated: number };

export function isListed(row: SessionRow): row is ListedRow {
  return row.updated !== null;
}

type ChecksumColumns = Pick<SessionRow, 'id' | 'created' | 'title' | 'parent' | 'parent_seq'>;

/** Returns the checksum of a session's immutable columns and its title. */
export function rowSum({ id, created, title, parent, parent_seq }: ChecksumColumns): number {
  return checksum(`${id} session `, JSON.stringify([created, title, parent, parent_seq]));
}

/** Returns the column of the shares. Their checksum is their own, because older processes compute that of the row. */
export function sharesColumn(id: string, shares: readonly Share[] | undefined): string | null {
  return shares === undefined ? null : withSum(id, JSON.stringify(shares));
}

function withSum(id: string, json: string): string {
  return `${checksum(`${id} shares `, json)} ${json}`;
}

function withoutSum(shares: string): string {
  return shares.slice(shares.indexOf(' ') + 1);
}

/** Returns true if a row is intact or was stored by a version without checksums. */
export function isIntactRow(row: SessionRow): boolean {
  const { id, sum, shares } = row;
  if (shares !== null && shares !== withSum(id, withoutSum(shares))) return false;
  return sum === null || sum === rowSum(row);
}

/** Returns the users with whom a session is shared. */
export function sharesOf({ shares }: SessionRow): readonly Share[] | undefined {
  return shares === null ? undefined : (JSON.parse(withoutSum(shares)) as readonly Share[]);
}

interface IndexedId {
  readonly key: number;
  readonly id: string;
}

/**
 * Returns the readable rows of a damaged table: the intact rows, and for each damaged row one reconstructed from the
 * session's events. A session is omitted if neither can be read. The time is proportional to the damage.
 */
export function readableRows(sql: Statements, log: SessionLog): SessionRow[] {
  const names = new Map<number, Set<string>>();
  // Read the index first: if two ids refer to one row, the id that the session was found by is tried first.
  for (const source of ['INDEXED BY sqlite_autoindex_sessions_1 ORDER BY id', 'NOT INDEXED ORDER BY key'])
    for (const order of ['ASC', 'DESC'])
      try {
        for (const { key, id } of sql.each<IndexedId>(`SELECT key, id FROM sessions ${source} ${order}`))
          names.set(key, (names.get(key) ?? new Set()).add(id));
      } catch (error) {
        if (!isCorrupt(error)) throw error;
      }
  return [...names].flatMap(([key, ids]) => {
    const row = sql.unlessCorrupt<SessionRow>('SELECT * FROM sessions WHERE key = ?', key);
    if (row !== undefined && isIntactRow(row)) return [row];
    return [...ids].map((id) => remains(log, key, id)).find((made) => made !== undefined) ?? [];
  });
}

function remains(log: SessionLog, key: number, id: string): SessionRow | undefined {
  try {
    const times = log.read(id, 0, -1).map(({ time }) => Date.parse(time));
    const [created] = times;
    if (created === undefined) return undefined;
    const head = {
      key,
      id,
      epoch: 0,
      owner: null,
      title: null,
      parent: null,
      parent_seq: null,
      sum: null,
      shares: null,
      isMade: true,
    } as const;
    return { ...head, created, updated: times.at(-1) ?? created };
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return undefined;
  }
}
