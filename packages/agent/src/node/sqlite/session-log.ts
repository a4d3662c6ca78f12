import type { Event } from '../../events/event.ts';
import { eventCosts } from '../../store/costs.ts';
import type { SessionStats } from '../../store/session-info.ts';
import { addToStats, emptyStats } from '../../store/session-info.ts';
import type { Writer } from '../../store/store.ts';
import { invalidPosition, sequenceGap, writerReplaced } from '../../store/store.ts';
import { AgentError } from '../../values/errors.ts';
import { parsedJson } from '../../values/json.ts';
import { checksum, eventChecksum, eventSeed, isIntact, statsLabel } from './checksum.ts';
import { CostTable } from './cost-table.ts';
import { isCorrupt, salvageAdvice } from './database-error.ts';
import type { EventRow } from './event-scan.ts';
import { eventOf, scanEvents } from './event-scan.ts';
import { SearchIndex } from './search/search-index.ts';
import type { Statements } from './statements.ts';

/** Number of events per segment; see the schema. */
const segmentLength = 64;

/** Number of events whose places are indexed together. */
const notedTogether = 512;

/** Number of segments after which a session's statistics are stored; later events are counted again when it is read. */
const statsInterval = 4;

/** Maximum number of sessions whose position is cached; others are read from the database. */
const maxRemembered = 1000;

interface LogPosition {
  readonly key: number;
  readonly epoch: number;
  /** Seed of the checksums of its events. */
  readonly seed: number;
  /** Statistics up to its last event. */
  readonly stats: SessionStats;
  segment: number;
  /** Sequence number of the segment's first event; undefined before the first append of this writer. */
  first: number | undefined;
  /** Number of segments started since the statistics were stored. */
  segments: number;
  /** Value of the foreign-write counter when this position was last validated. */
  checked: number;
}

/** Events and their JSON, serialized when they were appended, so later changes to the objects have no effect. */
export interface EventTexts {
  readonly events: readonly Event[];
  readonly texts: readonly string[];
}

/** The events of all sessions in the database. Methods that write must be called in a transaction. */
export class SessionLog {
  readonly #sql: Statements;
  readonly #file: string;
  readonly #costs: CostTable;
  readonly #search: SearchIndex;
  /** Positions by session id, least recently claimed first. */
  readonly #positions = new Map<string, LogPosition>();
  #foreignWrites = 0;
  /** Sessions that this process has claimed and not finished or released. */
  readonly #writing = new Set<string>();

  constructor(sql: Statements, file: string, search: SearchIndex = new SearchIndex(sql)) {
    this.#sql = sql;
    this.#file = file;
    this.#search = search;
    this.#costs = new CostTable(sql);
  }

  /** Number of sessions that this process may be writing to. */
  get writers(): number {
    return this.#writing.size;
  }

  /** Clears cached positions. Must be called after a rollback. */
  forget(): void {
    this.#positions.clear();
  }

  /** Marks cached positions for validation. Must start a transaction if another process has written since the last one. */
  doubt(): void {
    this.#foreignWrites += 1;
  }

  /** Registers a new writer of a session, which starts a new segment. */
  claimed(sessionId: string, { key, epoch }: WriterRow, before: number | undefined): void {
    this.#writing.add(sessionId);
    const known = this.#positions.get(sessionId);
    const stats = known?.epoch === before ? known?.stats : undefined;
    this.#remember(sessionId, {
      key,
      epoch,
      seed: eventSeed(sessionId),
      stats: stats ?? (before === undefined ? emptyStats() : this.stats(sessionId, key)),
      segment: 0,
      first: undefined,
      segments: 0,
      checked: this.#foreignWrites,
    });
  }

  /** Deletes the events of a session that is being removed. */
  remove(sessionId: string, key: number): void {
    this.#search.remove(key);
    for (const removal of removals) this.#sql.run(removal, key);
    this.#sql.run(noteLess);
    this.#positions.delete(sessionId);
    this.#writing.delete(sessionId);
  }

  /** Appends events. @throws AgentError `fenced` or `gap`, before anything is written. */
  append(sessionId: string, { events, texts }: EventTexts, writer: Writer, now: number): void {
    const position = this.#position(sessionId);
    if (position?.epoch !== writer.epoch) throw writerReplaced(sessionId);
    const last = position.stats.events;
    const wrong = invalidPosition(events, last);
    if (wrong !== undefined) throw sequenceGap(sessionId, wrong.seq);
    const isOver = writer.release === true || events.at(-1)?.type === 'finished';
    if (isOver) {
      this.#writing.delete(sessionId);
      this.#sql.run('UPDATE sessions SET updated = ?, owner = NULL WHERE key = ?', now, position.key);
    } else if (position.first === undefined && events.length > 0) {
      this.#sql.run('UPDATE sessions SET updated = ? WHERE key = ?', now, position.key);
    }
    this.#insert(sessionId, position, { events, texts }, isOver);
  }

  /** Returns at most `limit` events after a sequence number, in order. @throws AgentError `store_damaged`. */
  read(sessionId: string, afterSeq: number, limit: number): Event[] {
    return this.#sql.atOnce(
      () => this.#found(sessionId, afterSeq, limit) ?? this.#searched(sessionId, afterSeq, limit),
    );
  }

  /**
   * Returns the statistics of a session, including events that were appended after they were last stored.
   * @throws AgentError `store_damaged`
   */
  stats(sessionId: string, key: number): SessionStats {
    const stats = this.storedStats(sessionId, key) ?? emptyStats();
    for (const event of this.read(sessionId, stats.events, -1)) addToStats(stats, event);
    return stats;
  }

  /** Returns the stored statistics of a session, or undefined if there are none or they are damaged. */
  storedStats(sessionId: string, key: number): SessionStats | undefined {
    const row = this.#sql.unlessCorrupt<StatsRow>('SELECT tally, sum FROM tallies WHERE session = ?', key);
    return row && isIntact(row.sum, statsLabel(sessionId), row.tally)
      ? (parsedJson(row.tally) as SessionStats | undefined)
      : undefined;
  }

  /** Stores the number of events of a session, so that the loss of the last ones is detected. */
  noteEnd({ id, key, epoch }: WriterRow & { readonly id: string }): void {
    const known = this.#positions.get(id);
    this.#storeStats(id, key, known?.epoch === epoch ? known.stats : this.stats(id, key));
  }

  #storeStats(sessionId: string, key: number, stats: SessionStats): void {
    const text = JSON.stringify(stats);
    this.#sql.run(insertStats, key, text, checksum(statsLabel(sessionId), text));
  }

  /** Finds events through the indexes; returns undefined if any event is missing or damaged. */
  #found(sessionId: string, afterSeq: number, limit: number): Event[] | undefined {
    try {
      const key = this.#sql.row<KeyRow>(selectKey, sessionId)?.key;
      if (key === undefined) return this.hiddenKey(sessionId) === undefined ? [] : undefined;
      const noted = this.storedStats(sessionId, key);
      // Also read events that are not indexed: their places may be indexed already, and then both queries return them.
      const latest = this.#sql.rows<EventRow>(selectLatest, sessionId, afterSeq, limit);
      const rows = this.#sql.rows<EventRow>(selectNoted, afterSeq, key, key, afterSeq + 1, limit);
      const last = rows.at(-1)?.seq ?? afterSeq;
      for (const row of latest) if (row.seq > last && rows.length !== limit) rows.push(row);
      const events: Event[] = [];
      for (const row of rows) {
        const event = row.seq === afterSeq + events.length + 1 ? eventOf(row, sessionId) : undefined;
        if (event === undefined) return undefined;
        events.push(event);
      }
      const isCutOff = rows.length !== limit && afterSeq + rows.length < (noted?.events ?? 0);
      return isCutOff ? undefined : events;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return undefined;
    }
  }

  /** Finds events without the indexes, up to the first missing one. @throws AgentError `store_damaged`. */
  #searched(sessionId: string, afterSeq: number, limit: number): Event[] {
    const { events, isWhole } = scanEvents(this.#sql, sessionId);
    const found: Event[] = [];
    for (let event = events.get(afterSeq + 1); event !== undefined && found.length !== limit; ) {
      found.push(event);
      event = events.get(event.seq + 1);
    }
    const last = afterSeq + found.length;
    const hasMore = events.keys().some((seq) => seq > last);
    if (found.length === limit || (!hasMore && this.#endsAt(sessionId, last, isWhole))) return found;
    throw damagedError(sessionId, last + 1, this.#file);
  }

  /** Returns whether a session has no event after `last`: certain only if its end is stored or all rows were read. */
  #endsAt(sessionId: string, last: number, isWhole: boolean): boolean {
    const key = this.#key(sessionId) ?? this.hiddenKey(sessionId);
    const noted = key === undefined ? undefined : this.storedStats(sessionId, key);
    if (key === undefined || noted === undefined) return isWhole && key !== undefined;
    const isOver = noted.ended !== null || this.#sql.unlessCorrupt(selectGivenBack, key) !== undefined;
    return last >= noted.events && (isWhole || isOver);
  }

  /** Returns the key of a session that a damaged index lacks. Trusts the index if the table cannot be read. */
  hiddenKey(sessionId: string): number | undefined {
    return this.#sql.unlessCorrupt<KeyRow>(selectHiddenKey, sessionId)?.key;
  }

  #key(sessionId: string): number | undefined {
    return this.#sql.unlessCorrupt<KeyRow>(selectKey, sessionId)?.key;
  }

  #insert(sessionId: string, position: LogPosition, { events, texts }: EventTexts, isOver: boolean): void {
    const { stats, key } = position;
    const isFirst = position.first === undefined && events.length > 0;
    let at = 0;
    for (const event of events) {
      if (position.first === undefined || event.seq - position.first >= segmentLength) {
        position.segment = this.#sql.insert(insertSegment, key, event.seq);
        position.first = event.seq;
        position.segments += 1;
      }
      const text = texts[at] ?? '';
      const sum = eventChecksum(position.seed, event.seq, text);
      const place = this.#sql.insert(insertEvent, position.segment, event.seq, text, sum);
      if (place % notedTogether === 0) this.#note(place);
      addToStats(stats, event);
      for (const cost of eventCosts(event)) this.#costs.add(sessionId, cost);
      at += 1;
    }
    if (!isFirst && !isOver && position.segments < statsInterval) return;
    position.segments = 0;
    this.#storeStats(sessionId, key, stats);
  }

  #note(place: number): void {
    this.#sql.run(notePlaces);
    this.#sql.run("UPDATE counters SET value = ? WHERE name = 'noted'", place);
  }

  /** Returns the position of a session; its epoch is that of the current writer. */
  #position(sessionId: string): LogPosition | undefined {
    const known = this.#positions.get(sessionId);
    if (known?.checked === this.#foreignWrites) return known;
    const row = this.#sql.row<WriterRow>('SELECT key, epoch FROM sessions WHERE id = ?', sessionId);
    if (row === undefined) this.#positions.delete(sessionId);
    else if (known?.epoch === row.epoch) known.checked = this.#foreignWrites;
    else this.claimed(sessionId, row, row.epoch);
    return this.#positions.get(sessionId);
  }

  #remember(sessionId: string, position: LogPosition): void {
    this.#positions.delete(sessionId);
    this.#positions.set(sessionId, position);
    if (this.#positions.size <= maxRemembered) return;
    const [oldest] = this.#positions.keys();
    if (oldest !== undefined) this.#positions.delete(oldest);
  }
}

interface KeyRow {
  readonly key: number;
}

interface StatsRow {
  readonly tally: string;
  readonly sum: number | null;
}

/** The key of a session and the epoch of its current writer. */
export interface WriterRow {
  readonly key: number;
  readonly epoch: number;
}

const insertSegment = 'INSERT INTO segments (session, first) VALUES (?, ?)';
const insertEvent = 'INSERT INTO events (segment, seq, json, sum) VALUES (?, ?, ?, ?)';
const insertStats = 'INSERT OR REPLACE INTO tallies VALUES (?, ?, ?)';
const selectKey = 'SELECT key FROM sessions WHERE id = ?';
const selectGivenBack =
  'SELECT 1 FROM sessions JOIN tallies ON session = key WHERE key = ? AND owner IS NULL AND tallies.sum IS NOT NULL';
const selectHiddenKey = 'SELECT key FROM sessions NOT INDEXED WHERE id = ?';

const noted = "(SELECT value FROM counters WHERE name = 'noted')";
const notePlaces = `
  INSERT INTO places SELECT segment, seq, place FROM events WHERE place > ${noted} ORDER BY segment, seq`;

/** Selects events from the segment that contains the next event, segment by segment. A lost event gives a row of nulls. */
const selectNoted = `
  SELECT events.seq AS seq, events.json AS json, events.sum AS sum
  FROM segments
  CROSS JOIN places ON places.segment = segments.segment AND places.seq > ?
  LEFT JOIN events ON events.place = places.place
  WHERE segments.session = ? AND segments.first >= coalesce(
    (SELECT max(first) FROM segments WHERE session = ? AND first <= ?), 0)
  ORDER BY segments.first, places.seq
  LIMIT ?`;

/** Selects events whose places are not indexed yet. */
const selectLatest = `
  SELECT seq, json, sum FROM events
  WHERE place > ${noted}
    AND EXISTS (SELECT 1 FROM segments JOIN sessions ON sessions.key = segments.session
      WHERE segments.segment = events.segment AND sessions.id = ?)
    AND seq > ?
  ORDER BY place
  LIMIT ?`;

/** Statements that delete the events of one session, in this order. The parameter is the session's key. */
const removals = [
  `DELETE FROM events WHERE place > ${noted} AND segment IN (SELECT segment FROM segments WHERE session = ?)`,
  `DELETE FROM events WHERE place IN (
    SELECT place FROM places WHERE segment IN (SELECT segment FROM segments WHERE session = ?))`,
  'DELETE FROM places WHERE segment IN (SELECT segment FROM segments WHERE session = ?)',
  'DELETE FROM segments WHERE session = ?',
] as const;

/** SQLite reuses the last places after a deletion, so no place after the last event may count as indexed. */
const noteLess = `
  UPDATE counters SET value = min(value, coalesce((SELECT max(place) FROM events), 0))
  WHERE name IN ('noted', 'searched')`;

function damagedError(sessionId: string, seq: number, file: string): AgentError {
  const message = `Event ${seq} of session ${sessionId} is damaged or missing in ${file}. ${salvageAdvice(file)}`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}
