import type { DatabaseSync } from 'node:sqlite';
import type { CostEntry } from '../../store/costs.ts';
import { eventCosts } from '../../store/costs.ts';
import { AgentError } from '../../values/errors.ts';
import { read, text } from '../../values/input.ts';
import { isIntact } from './checksum.ts';
import { CostTable } from './cost-table.ts';
import { storeError } from './database-error.ts';
import { openDatabase } from './database-file.ts';
import { scanEvents } from './event-scan.ts';
import { migrations, sessionFile } from './schema.ts';
import { SessionLog } from './session-log.ts';
import type { SessionRow } from './session-rows.ts';
import { isListed, readableRows } from './session-rows.ts';
import { Statements } from './statements.ts';

/** The result of `verifyStore` for one session. */
export interface VerifiedSession {
  readonly id: string;
  /** Number of readable events: all, or those before the first damaged event. */
  readonly events: number;
  /** Description of the damage; undefined for an intact session. */
  readonly problem?: string;
}

/** The result of `verifyStore`. */
export interface StoreReport {
  /** True if all data is intact. */
  readonly ok: boolean;
  readonly sessions: readonly VerifiedSession[];
  /** Damage that does not belong to one session. */
  readonly problems: readonly string[];
}

/** Maximum number of reported findings of SQLite's own check. */
const maxFindings = 20;

/** Number of events in memory at a time. */
const pageLength = 1000;

/**
 * Reads everything in a store and compares it with its checksums, even while other processes use it. The time is
 * proportional to the file size, and the event loop is blocked. Does not throw for a damaged store, but reports the
 * damage.
 * @throws AgentError with a code of `sqliteStore` other than `store_damaged`
 */
export function verifyStore(file: string): StoreReport {
  let db: DatabaseSync;
  try {
    db = openDatabase(read(file, text, 'file'), {
      maxBytes: undefined,
      onWrite: () => {},
      migrations,
      kind: sessionFile,
    });
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'store_damaged') throw error;
    return { ok: false, sessions: [], problems: [error.message] };
  }
  try {
    const sql = new Statements(db);
    const log = new SessionLog(sql, file);
    const problems = findings(sql, file);
    const sessions: VerifiedSession[] = [];
    for (const row of readableRows(sql, log)) {
      if (!isListed(row)) continue;
      if (row.isMade === true) problems.push(`The entry for session ${row.id} is damaged.`);
      sessions.push(verifySession(sql, log, row));
    }
    return {
      ok: problems.length === 0 && sessions.every(({ problem }) => problem === undefined),
      sessions,
      problems,
    };
  } finally {
    db.close();
  }
}

function verifySession(sql: Statements, log: SessionLog, { id, created }: SessionRow): VerifiedSession {
  let events = 0;
  const spent: CostEntry[] = [];
  // Events and costs are those of the same moment, because other processes may be writing.
  sql.run('BEGIN');
  try {
    for (let length = pageLength; length === pageLength; events += length) {
      const page = log.read(id, events, pageLength);
      ({ length } = page);
      spent.push(...page.flatMap(eventCosts));
    }
    const isPaid = new CostTable(sql).areOf(id, spent, created);
    return {
      id,
      events,
      ...(!isPaid && { problem: 'Its costs differ from those in its events.' }),
    };
  } catch (error) {
    const intact = scanEvents(sql, id).events;
    let last = 0;
    while (intact.has(last + 1)) last += 1;
    return { id, events: last, problem: AgentError.from(error).message };
  } finally {
    endReading(sql);
  }
}

function endReading(sql: Statements): void {
  try {
    sql.run('ROLLBACK');
  } catch {
    // SQLite has ended the transaction itself, because the file is damaged.
  }
}

/** Returns the findings of SQLite's own check, and data derived from events that does not match its checksum. */
function findings(sql: Statements, file: string): string[] {
  try {
    const checked = sql.rows<{ integrity_check: string }>(`PRAGMA integrity_check(${maxFindings})`);
    const found = checked.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    for (const [what, select] of derived)
      for (const { id, place, text, sum } of sql.rows<DerivedRow>(select))
        if (!isIntact(sum, place, text))
          found.push(`The ${what} of session ${id} is damaged and is not used.`);
    return found;
  } catch (error) {
    return [storeError(error, file).message];
  }
}

interface DerivedRow {
  readonly id: string;
  readonly place: string;
  readonly text: string;
  readonly sum: number | null;
}

const derived = [
  [
    'tally',
    "SELECT id, id || ' tally ' AS place, tally AS text, t.sum FROM tallies t JOIN sessions ON key = session",
  ],
  [
    'snapshot',
    `SELECT id, id || ' state ' || seq || ' ' AS place, state AS text, t.sum
     FROM snapshots t JOIN sessions ON key = session`,
  ],
  [
    'snapshot',
    `SELECT id, id || ' messages ' || first || ' ' AS place, messages AS text, t.sum
     FROM snapshot_messages t JOIN sessions ON key = session`,
  ],
] as const;
