import type { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../values/errors.ts';
import { isIntact } from './checksum.ts';
import { storeError } from './database-error.ts';
import { openDatabase } from './database-file.ts';
import { scanEvents } from './event-scan.ts';
import { SessionLog } from './session-log.ts';
import { isListed, readableRows } from './session-rows.ts';
import { Statements } from './statements.ts';

/** What `verifyStore` found of one session. */
export interface VerifiedSession {
  readonly id: string;
  /** Events that can be read: all of them, or those before the first one that is damaged. */
  readonly events: number;
  /** What is damaged, in words; absent for a session that is intact. */
  readonly problem?: string;
}

/** What `verifyStore` found. */
export interface StoreReport {
  /** Everything is as it was stored. */
  readonly ok: boolean;
  readonly sessions: readonly VerifiedSession[];
  /** Damage that is not of one session, in words. */
  readonly problems: readonly string[];
}

/** Findings of SQLite's own check that are reported. */
const maxFindings = 20;

/** Events that are in memory at a time. */
const pageLength = 1000;

/**
 * Reads everything in a store and compares it with its checksums, also while others use it. Takes time in proportion to
 * the file, and holds up the event loop meanwhile. Does not throw for a damaged store: it reports what is damaged.
 * @throws AgentError with a code of `sqliteStore` other than `store_damaged`
 */
export function verifyStore(file: string): StoreReport {
  let db: DatabaseSync;
  try {
    db = openDatabase(file, { maxBytes: undefined, onWrite: () => {} });
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
      if (row.isMade === true) problems.push(`The entry of session ${row.id} is damaged.`);
      sessions.push(verified(sql, log, row.id));
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

function verified(sql: Statements, log: SessionLog, id: string): VerifiedSession {
  let events = 0;
  try {
    for (let length = pageLength; length === pageLength; events += length)
      ({ length } = log.read(id, events, pageLength));
    return { id, events };
  } catch (error) {
    const intact = scanEvents(sql, id).events;
    let last = 0;
    while (intact.has(last + 1)) last += 1;
    return { id, events: last, problem: AgentError.from(error).message };
  }
}

/** What SQLite's own check says, and what is derived from events and does not match its checksum. */
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
