import type { Event } from '../../events/event.ts';
import type { SessionStats } from '../../store/session-info.ts';
import { addToStats, emptyStats } from '../../store/session-info.ts';
import type { Writer } from '../../store/store.ts';
import { invalidPosition, sequenceGap, writerReplaced } from '../../store/store.ts';
import { AgentError } from '../../values/errors.ts';
import { checksum, eventChecksum, eventSeed, isIntact, tallyPlace } from './checksum.ts';
import { isCorrupt, salvageAdvice } from './database-error.ts';
import type { EventRow } from './event-scan.ts';
import { eventOf, scanEvents } from './event-scan.ts';
import type { Statements } from './statements.ts';

/** Events of a segment; see the schema. */
const segmentLength = 64;

/** After so many events it is noted where they lie. */
const notedTogether = 512;

/** Segments after which a session's tally is written down: so many events are counted anew when it is looked at. */
const tallySegments = 4;

/** Sessions of which it is remembered where they stand; the others are looked up. */
const maxRemembered = 1000;

/** Where a session stands that is being written to. */
interface LogPosition {
  readonly key: number;
  readonly epoch: number;
  /** Of the checksums of its events. */
  readonly seed: number;
  /** Up to its last event. */
  readonly tally: SessionStats;
  segment: number;
  /** Place of the segment's first event; nothing before the writer's first. */
  first: number | undefined;
  /** Segments begun since the tally was written down. */
  segments: number;
  /** How many times others had written when this was known to be true. */
  checked: number;
}

/** Events with their text, made when they were given: what becomes of the objects later does not matter. */
export interface EventTexts {
  readonly events: readonly Event[];
  readonly texts: readonly string[];
}

/** The events of sessions in the database. What writes has to be called within a transaction. */
export class SessionLog {
  readonly #sql: Statements;
  readonly #file: string;
  /** By id, what was claimed longest ago first. */
  readonly #standings = new Map<string, LogPosition>();
  #foreignWrites = 0;
  /** Sessions that were claimed here and have not come to an end since. */
  readonly #writing = new Set<string>();

  constructor(sql: Statements, file: string) {
    this.#sql = sql;
    this.#file = file;
  }

  /** How many sessions of this process may be written to at any moment. */
  get writers(): number {
    return this.#writing.size;
  }

  /** To be called when a transaction was taken back: what is remembered came from it. */
  forget(): void {
    this.#standings.clear();
  }

  /** To be called at the beginning of a transaction when another process has written since the last one. */
  doubt(): void {
    this.#foreignWrites += 1;
  }

  /** A session has a new writer, who begins a segment, beside those of others that write now. */
  claimed(sessionId: string, { key, epoch }: WriterRow, before: number | undefined): void {
    this.#writing.add(sessionId);
    const known = this.#standings.get(sessionId);
    const tally = known?.epoch === before ? known?.tally : undefined;
    this.#remember(sessionId, {
      key,
      epoch,
      seed: eventSeed(sessionId),
      tally: tally ?? (before === undefined ? emptyStats() : this.tally(sessionId, key)),
      segment: 0,
      first: undefined,
      segments: 0,
      checked: this.#foreignWrites,
    });
  }

  /** Takes away the events of a session that is removed. */
  remove(sessionId: string, key: number): void {
    for (const removal of removals) this.#sql.run(removal, key);
    this.#sql.run(noteLess);
    this.#standings.delete(sessionId);
    this.#writing.delete(sessionId);
  }

  /** @throws AgentError `fenced` or `gap`, before anything is written. */
  append(sessionId: string, { events, texts }: EventTexts, writer: Writer, now: number): void {
    const standing = this.#standing(sessionId);
    if (standing?.epoch !== writer.epoch) throw writerReplaced(sessionId);
    const last = standing.tally.events;
    const wrong = invalidPosition(events, last);
    if (wrong !== undefined) throw sequenceGap(sessionId, wrong.seq);
    const isOver = writer.release === true || events.at(-1)?.type === 'finished';
    if (isOver) {
      this.#writing.delete(sessionId);
      this.#sql.run('UPDATE sessions SET updated = ?, owner = NULL WHERE key = ?', now, standing.key);
    } else if (standing.first === undefined && events.length > 0) {
      this.#sql.run('UPDATE sessions SET updated = ? WHERE key = ?', now, standing.key);
    }
    this.#insert(sessionId, standing, { events, texts }, isOver);
  }

  /** At most `limit` events after a place, in order. @throws AgentError `store_damaged`. */
  read(sessionId: string, afterSeq: number, limit: number): Event[] {
    return this.#sql.atOnce(
      () => this.#found(sessionId, afterSeq, limit) ?? this.#searched(sessionId, afterSeq, limit),
    );
  }

  /**
   * The tally of a session, with what was not yet counted when it was last written down.
   * @throws AgentError `store_damaged`
   */
  tally(sessionId: string, key: number): SessionStats {
    const tally = this.notedTally(sessionId, key) ?? emptyStats();
    for (const event of this.read(sessionId, tally.events, -1)) addToStats(tally, event);
    return tally;
  }

  /** The tally of a session as it was last written down; nothing when it was not, or is damaged. */
  notedTally(sessionId: string, key: number): SessionStats | undefined {
    const row = this.#sql.unlessCorrupt<TallyRow>('SELECT tally, sum FROM tallies WHERE session = ?', key);
    return row && isIntact(row.sum, tallyPlace(sessionId), row.tally)
      ? parsed<SessionStats>(row.tally)
      : undefined;
  }

  /** Writes down how many events a session has, so that it is noticed when the last ones are lost. */
  noteEnd({ id, key, epoch }: WriterRow & { readonly id: string }): void {
    const known = this.#standings.get(id);
    this.#noteTally(id, key, known?.epoch === epoch ? known.tally : this.tally(id, key));
  }

  #noteTally(sessionId: string, key: number, tally: SessionStats): void {
    const text = JSON.stringify(tally);
    this.#sql.run(insertTally, key, text, checksum(tallyPlace(sessionId), text));
  }

  /** Events by the indexes of the file; nothing when any of them is not what was stored. */
  #found(sessionId: string, afterSeq: number, limit: number): Event[] | undefined {
    try {
      const key = this.#sql.row<KeyRow>(selectKey, sessionId)?.key;
      if (key === undefined) return this.hiddenKey(sessionId) === undefined ? [] : undefined;
      const noted = this.notedTally(sessionId, key);
      // The latest too: where they lie may be noted already, and then they are found both ways.
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

  /** Events without the indexes, as far as nothing is missing. @throws AgentError `store_damaged`. */
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
    throw damaged(sessionId, last + 1, this.#file);
  }

  /**
   * Whether a session has no event after `last`. That is certain only if its end is noted, because its run ended or was
   * given back, or if all rows were read.
   */
  #endsAt(sessionId: string, last: number, isWhole: boolean): boolean {
    const key = this.#key(sessionId) ?? this.hiddenKey(sessionId);
    const noted = key === undefined ? undefined : this.notedTally(sessionId, key);
    if (key === undefined || noted === undefined) return isWhole && key !== undefined;
    const isOver = noted.ended !== null || this.#sql.unlessCorrupt(selectGivenBack, key) !== undefined;
    return last >= noted.events && (isWhole || isOver);
  }

  /**
   * The key of a session that the index of ids does not have, though the table does: the index is damaged. When the
   * table cannot be read, the index is what counts.
   */
  hiddenKey(sessionId: string): number | undefined {
    return this.#sql.unlessCorrupt<KeyRow>(selectHiddenKey, sessionId)?.key;
  }

  #key(sessionId: string): number | undefined {
    return this.#sql.unlessCorrupt<KeyRow>(selectKey, sessionId)?.key;
  }

  #insert(sessionId: string, standing: LogPosition, { events, texts }: EventTexts, isOver: boolean): void {
    const { tally, key } = standing;
    const isFirst = standing.first === undefined && events.length > 0;
    let at = 0;
    for (const event of events) {
      if (standing.first === undefined || event.seq - standing.first >= segmentLength) {
        standing.segment = this.#sql.insert(insertSegment, key, event.seq);
        standing.first = event.seq;
        standing.segments += 1;
      }
      const text = texts[at] ?? '';
      const sum = eventChecksum(standing.seed, event.seq, text);
      const place = this.#sql.insert(insertEvent, standing.segment, event.seq, text, sum);
      if (place % notedTogether === 0) this.#note(place);
      addToStats(tally, event);
      at += 1;
    }
    if (!isFirst && !isOver && standing.segments < tallySegments) return;
    standing.segments = 0;
    this.#noteTally(sessionId, key, tally);
  }

  #note(place: number): void {
    this.#sql.run(notePlaces);
    this.#sql.run("UPDATE counters SET value = ? WHERE name = 'noted'", place);
  }

  /** Where a session stands; its epoch is that of the one who may write. */
  #standing(sessionId: string): LogPosition | undefined {
    const known = this.#standings.get(sessionId);
    if (known?.checked === this.#foreignWrites) return known;
    const row = this.#sql.row<WriterRow>('SELECT key, epoch FROM sessions WHERE id = ?', sessionId);
    if (row === undefined) this.#standings.delete(sessionId);
    else if (known?.epoch === row.epoch) known.checked = this.#foreignWrites;
    else this.claimed(sessionId, row, row.epoch);
    return this.#standings.get(sessionId);
  }

  #remember(sessionId: string, standing: LogPosition): void {
    this.#standings.delete(sessionId);
    this.#standings.set(sessionId, standing);
    if (this.#standings.size <= maxRemembered) return;
    const [oldest] = this.#standings.keys();
    if (oldest !== undefined) this.#standings.delete(oldest);
  }
}

interface KeyRow {
  readonly key: number;
}

interface TallyRow {
  readonly tally: string;
  readonly sum: number | null;
}

/** A session and the epoch that may write into it. */
export interface WriterRow {
  readonly key: number;
  readonly epoch: number;
}

const insertSegment = 'INSERT INTO segments (session, first) VALUES (?, ?)';
const insertEvent = 'INSERT INTO events (segment, seq, json, sum) VALUES (?, ?, ?, ?)';
const insertTally = 'INSERT OR REPLACE INTO tallies VALUES (?, ?, ?)';
const selectKey = 'SELECT key FROM sessions WHERE id = ?';
const selectGivenBack =
  'SELECT 1 FROM sessions JOIN tallies ON session = key WHERE key = ? AND owner IS NULL AND tallies.sum IS NOT NULL';
const selectHiddenKey = 'SELECT key FROM sessions NOT INDEXED WHERE id = ?';

const noted = "(SELECT value FROM counters WHERE name = 'noted')";
const notePlaces = `
  INSERT INTO places SELECT segment, seq, place FROM events WHERE place > ${noted} ORDER BY segment, seq`;

/** From the segment that holds the next event on, segment by segment. An event that is lost gives a row of nothing. */
const selectNoted = `
  SELECT events.seq AS seq, events.json AS json, events.sum AS sum
  FROM segments
  CROSS JOIN places ON places.segment = segments.segment AND places.seq > ?
  LEFT JOIN events ON events.place = places.place
  WHERE segments.session = ? AND segments.first >= coalesce(
    (SELECT max(first) FROM segments WHERE session = ? AND first <= ?), 0)
  ORDER BY segments.first, places.seq
  LIMIT ?`;

/** Of those of which it is not noted yet where they lie. */
const selectLatest = `
  SELECT seq, json, sum FROM events
  WHERE place > ${noted}
    AND EXISTS (SELECT 1 FROM segments JOIN sessions ON sessions.key = segments.session
      WHERE segments.segment = events.segment AND sessions.id = ?)
    AND seq > ?
  ORDER BY place
  LIMIT ?`;

/** What takes away the events of one session, in this order. Each is given the session's key. */
const removals = [
  `DELETE FROM events WHERE place > ${noted} AND segment IN (SELECT segment FROM segments WHERE session = ?)`,
  `DELETE FROM events WHERE place IN (
    SELECT place FROM places WHERE segment IN (SELECT segment FROM segments WHERE session = ?))`,
  'DELETE FROM places WHERE segment IN (SELECT segment FROM segments WHERE session = ?)',
  'DELETE FROM segments WHERE session = ?',
] as const;

/** Places are given again once the last ones are free; nothing above the last event may count as noted. */
const noteLess = `
  UPDATE counters SET value = min(value, coalesce((SELECT max(place) FROM events), 0)) WHERE name = 'noted'`;

function parsed<Value>(json: string): Value | undefined {
  try {
    return JSON.parse(json) as Value;
  } catch {
    return undefined;
  }
}

function damaged(sessionId: string, seq: number, file: string): AgentError {
  const message = `Event ${seq} of session ${sessionId} is damaged or missing in ${file}. ${salvageAdvice(file)}`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}
