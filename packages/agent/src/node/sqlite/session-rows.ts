import { AgentError } from '../../values/errors.ts';
import { checksum } from './checksum.ts';
import { isCorrupt } from './database-error.ts';
import type { SessionLog } from './session-log.ts';
import type { Statements } from './statements.ts';

/** A session as it is stored. */
export interface SessionRow {
  readonly key: number;
  readonly id: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly created: number;
  /** Nothing before it has an event. */
  readonly updated: number | null;
  readonly title: string | null;
  readonly parent: string | null;
  readonly parent_seq: number | null;
  readonly sum: number | null;
  /** Made of the session's events, because the row is damaged. */
  readonly isMade?: true;
}

/** A session that has an event. */
export type ListedRow = SessionRow & { readonly updated: number };

export function isListed(row: SessionRow): row is ListedRow {
  return row.updated !== null;
}

type Summed = Pick<SessionRow, 'id' | 'created' | 'title' | 'parent' | 'parent_seq'>;

/** The checksum of what never changes of a session, and of its title. */
export function rowSum({ id, created, title, parent, parent_seq }: Summed): number {
  return checksum(`${id} session `, JSON.stringify([created, title, parent, parent_seq]));
}

/** True for what was stored, and for what a version without checksums stored. */
export function isIntactRow(row: SessionRow): boolean {
  return row.sum === null || row.sum === rowSum(row);
}

interface Named {
  readonly key: number;
  readonly id: string;
}

/**
 * The rows of a damaged table: those that are intact, and for each of the others one that is made of the session's
 * events. A session is left out when neither can be read. Takes time in proportion to what is damaged.
 */
export function readableRows(sql: Statements, log: SessionLog): SessionRow[] {
  const names = new Map<number, Set<string>>();
  // The index first: of two ids for one row, the one is tried first that the session was found by.
  for (const source of ['INDEXED BY sqlite_autoindex_sessions_1 ORDER BY id', 'NOT INDEXED ORDER BY key'])
    for (const order of ['ASC', 'DESC'])
      try {
        for (const { key, id } of sql.each<Named>(`SELECT key, id FROM sessions ${source} ${order}`))
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
      isMade: true,
    } as const;
    return { ...head, created, updated: times.at(-1) ?? created };
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return undefined;
  }
}
