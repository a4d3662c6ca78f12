import { existsSync } from 'node:fs';
import type { Event } from '../../events/event.ts';
import { repairLog } from '../../events/repair-log.ts';
import { isSessionId } from '../../store/store.ts';
import { AgentError } from '../../values/errors.ts';
import { isIntact, statsLabel } from './checksum.ts';
import { eventOf } from './event-scan.ts';
import { isAlive, lockFiles } from './owner.ts';
import { DatabasePages } from './page-file.ts';
import type { PageRow, RowPlace } from './page-rows.ts';
import { rowAt, rowsOf } from './page-rows.ts';
import type { SessionRow } from './session-rows.ts';
import { isIntactRow } from './session-rows.ts';
import { sqliteStore } from './sqlite-store.ts';

/** The result of `salvageStore` for one session. */
export interface SalvagedSession {
  readonly id: string;
  /** Number of events in the new store. */
  readonly events: number;
  /** Descriptions of missing or changed data; empty for a session that was copied unchanged. */
  readonly problems: readonly string[];
}

interface IntactSession {
  readonly id: string;
  row: SessionRow | undefined;
  /** Number of events according to the last stored statistics. */
  expected: number;
  /** Row locations by sequence number. */
  readonly events: Map<number, { readonly place: RowPlace; readonly rowid: number }>;
}

/** Implements `salvageStore`; a separate module, loaded only on use, because it needs all the code that checks a log. */
export async function salvage(from: string, to: string): Promise<readonly SalvagedSession[]> {
  check(from, to);
  const file = new DatabasePages(from);
  let time = 0;
  const store = sqliteStore(to, { now: () => time });
  try {
    const salvaged: SalvagedSession[] = [];
    for (const { id, row, expected, events: places } of sessionsIn(file)) {
      const { events, problems } = restored(readEvents(file, id, places), expected);
      const [first, last] = [events[0], events.at(-1)];
      salvaged.push({ id, events: events.length, problems });
      if (first === undefined || last === undefined) continue;
      time = row?.created ?? Date.parse(first.time);
      const parent = parentOf(row);
      const epoch = await store.claim(id, parent === undefined ? {} : { parent });
      time = row?.updated ?? Date.parse(last.time);
      await store.append(id, events, { epoch, release: true });
      if (row?.title) await store.rename(id, row.title);
    }
    return salvaged;
  } finally {
    await store.close();
    file.close();
  }
}

function check(from: string, to: string): void {
  const refusal = (code: string, message: string) => new AgentError({ kind: 'invalid', code, message });
  if (!existsSync(from)) throw refusal('store_missing', `Cannot read ${from}: the file does not exist.`);
  if (existsSync(to))
    throw refusal('store_exists', `Cannot salvage into ${to}: the file already exists. Specify a new file.`);
  if (lockFiles(from).some((lock) => isAlive(from, lock)))
    throw refusal('in_use', `Cannot salvage ${from}: another process is using it. End that process first.`);
}

/** Returns every session with a readable row, in order of creation. */
function sessionsIn(file: DatabasePages): IntactSession[] {
  const sessions = new Map<string, IntactSession>();
  const ids = new Map<number, string>();
  const statsByRow = new Map<number, StoredStats>();
  const of = (id: string): IntactSession => {
    const found = sessions.get(id) ?? { id, row: undefined, expected: 0, events: new Map() };
    sessions.set(id, found);
    return found;
  };
  const free = file.free();
  for (let page = 2; page <= file.count; page += 1) {
    if (free.has(page)) continue;
    for (const row of rowsOf(file, page)) {
      const event = eventIn(row);
      const session = sessionIn(row);
      if (event !== undefined) keepNewest(of(event.sessionId).events, event.seq, row);
      else if (session !== undefined) {
        ids.set(session.key, session.id);
        const found = of(session.id);
        if ((found.row?.updated ?? -1) < (session.updated ?? 0)) found.row = session;
      } else noteOther(row, ids, statsByRow);
    }
  }
  for (const [key, id] of ids)
    of(id).expected = Math.max(of(id).expected, eventsNoted(id, statsByRow.get(key)));
  const known = [...sessions.values()].filter(({ events, expected }) => events.size > 0 || expected > 0);
  const keyOf = ({ row }: IntactSession) => row?.key ?? Number.MAX_SAFE_INTEGER;
  return known.sort((one, other) => keyOf(one) - keyOf(other));
}

/** Keeps the newest copy of an event: pages that SQLite has freed but not overwritten contain older ones. */
function keepNewest(events: IntactSession['events'], seq: number, row: PageRow & RowPlace): void {
  const { rowid = 0, page, offset, isIndex } = row;
  if ((events.get(seq)?.rowid ?? -1) < rowid) events.set(seq, { rowid, place: { page, offset, isIndex } });
}

/** Returns the session and sequence number of the event in a row, or undefined if the row contains no intact event. */
function eventIn({ rowid, values }: PageRow): { sessionId: string; seq: number } | undefined {
  const [key, , seq, json, sum = null] = values;
  if (rowid === undefined || key !== null || values.length < 4 || values.length > 5) return undefined;
  if (typeof seq !== 'number' || typeof json !== 'string' || typeof sum === 'string') return undefined;
  const sessionId = sessionOf(json, seq);
  if (sessionId === undefined || eventOf({ seq, json, sum }, sessionId) === undefined) return undefined;
  return { sessionId, seq };
}

/** Returns the session id contained in the id of an event. */
function sessionOf(json: string, seq: number): string | undefined {
  try {
    const { id } = JSON.parse(json) as Event;
    const sessionId = String(id).slice(0, -`-${seq}`.length);
    return id === `${sessionId}-${seq}` && isSessionId(sessionId) ? sessionId : undefined;
  } catch {
    return undefined;
  }
}

function sessionIn({ rowid, values }: PageRow): SessionRow | undefined {
  const [own, id, epoch, owner, created, updated, title, parent, parentSeq, sum = null, shares = null] =
    values;
  if (rowid === undefined || own !== null || values.length < 9 || values.length > 11) return undefined;
  if (typeof id !== 'string' || !isSessionId(id) || typeof epoch !== 'number') return undefined;
  if (typeof created !== 'number' || !isText(owner) || !isText(title) || !isText(parent)) return undefined;
  if (!isText(shares)) return undefined;
  if (!isNumber(updated) || !isNumber(parentSeq) || !isNumber(sum)) return undefined;
  const columns = { id, epoch, owner, created, updated, title, parent, parent_seq: parentSeq, sum, shares };
  const row = { key: rowid, ...columns };
  return isIntactRow(row) ? row : undefined;
}

const isText = (value: unknown): value is string | null => value === null || typeof value === 'string';
const isNumber = (value: unknown): value is number | null => value === null || typeof value === 'number';

interface StoredStats {
  readonly text: string;
  readonly sum: number | null;
}

/** Notes the key of a session from a row of the id index, or the number of its events from its statistics. */
function noteOther(
  { rowid, values }: PageRow,
  ids: Map<number, string>,
  statsByRow: Map<number, StoredStats>,
): void {
  const [first, second, third = null] = values;
  if (rowid === undefined && typeof first === 'string' && typeof second === 'number' && isSessionId(first)) {
    if (!ids.has(second)) ids.set(second, first);
  } else if (rowid !== undefined && typeof second === 'string' && typeof third !== 'string') {
    if (/^\{"events":\d{1,9},/.test(second)) statsByRow.set(rowid, { text: second, sum: third });
  }
}

function eventsNoted(id: string, stats: StoredStats | undefined): number {
  if (stats === undefined || !isIntact(stats.sum, statsLabel(id), stats.text)) return 0;
  return Number(/\d+/.exec(stats.text)?.[0]);
}

function readEvents(file: DatabasePages, sessionId: string, places: IntactSession['events']): Event[] {
  const rows = [...places].sort(([one], [other]) => one - other);
  return rows.flatMap(([seq, { place }]) => {
    const [, , , json, sum = null] = rowAt(file, place)?.values ?? [];
    if (typeof json !== 'string' || typeof sum === 'string') return [];
    return eventOf({ seq, json, sum }, sessionId) ?? [];
  });
}

/**
 * Returns the events unchanged if none is missing. Otherwise returns all intact events, renumbered as by `repairLog`;
 * if later events are invalid without the lost ones, returns only the events before the gap.
 */
function restored(
  events: readonly Event[],
  expected: number,
): { events: readonly Event[]; problems: string[] } {
  const lost = gapsIn(events, expected);
  const [firstLost] = lost;
  if (firstLost === undefined) return { events, problems: [] };
  const problems = lost.map(({ first, last }) => `${numbers(first, last)} lost`);
  const intact = events.filter(({ seq }) => seq < firstLost.first);
  const all = repairLog(events).events;
  const isFitting = all.length >= events.length;
  if (!isFitting)
    problems.push(`later events depend on the lost ones and are omitted (${events.length - intact.length})`);
  const kept = isFitting ? all : repairLog(intact).events;
  if (kept.length > (isFitting ? events : intact).length) problems.push('the last run is marked as failed');
  return { events: kept, problems };
}

/** Returns the ranges of missing sequence numbers, from 1 to `expected` or to the last event. */
function gapsIn(events: readonly Event[], expected: number): { first: number; last: number }[] {
  const gaps: { first: number; last: number }[] = [];
  let next = 1;
  for (const { seq } of [...events, { seq: Math.max(expected, events.at(-1)?.seq ?? 0) + 1 }]) {
    if (seq > next) gaps.push({ first: next, last: seq - 1 });
    next = seq + 1;
  }
  return gaps;
}

function numbers(first: number, last: number): string {
  return first === last ? `event ${first} is` : `events ${first} to ${last} are`;
}

function parentOf(row: SessionRow | undefined): { sessionId: string; seq: number } | undefined {
  if (row === undefined || row.parent === null || row.parent_seq === null) return undefined;
  return { sessionId: row.parent, seq: row.parent_seq };
}
