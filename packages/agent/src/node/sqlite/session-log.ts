import { AgentError } from '../../errors.ts';
import type { Event } from '../../event.ts';
import type { Tally } from '../../session-info.ts';
import { count, newTally } from '../../session-info.ts';
import type { Writer } from '../../store.ts';
import { fenced, gap, misplaced } from '../../store.ts';
import type { Statements } from './statements.ts';

/** Events of a segment; see the schema. */
const segmentLength = 64;

/** After so many events it is noted where they lie. */
const notedTogether = 512;

/** Segments after which a session's tally is written down: so many events are counted anew when it is looked at. */
const tallySegments = 4;

/** Sessions of which it is remembered where they stand; the others are looked up. */
const mostRemembered = 1000;

/** Where a session stands that is being written to. */
interface Standing {
  readonly key: number;
  readonly epoch: number;
  /** Up to its last event. */
  readonly tally: Tally;
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
  readonly #standings = new Map<string, Standing>();
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

  /** To be called at the beginning of a transaction when somebody else has written since the last one. */
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
      tally: tally ?? (before === undefined ? newTally() : this.tally(sessionId, key)),
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
    if (standing?.epoch !== writer.epoch) throw fenced(sessionId);
    const last = standing.tally.events;
    const wrong = misplaced(events, last);
    if (wrong !== undefined) throw gap(sessionId, wrong.seq);
    const isOver = writer.release === true || events.at(-1)?.type === 'finished';
    if (isOver) {
      this.#writing.delete(sessionId);
      this.#sql.run('UPDATE sessions SET updated = ?, owner = NULL WHERE key = ?', now, standing.key);
    } else if (standing.first === undefined && events.length > 0) {
      this.#sql.run('UPDATE sessions SET updated = ? WHERE key = ?', now, standing.key);
    }
    this.#insert(standing, { events, texts }, isOver);
  }

  /** At most `limit` events after a place, in order. @throws AgentError `store_damaged`. */
  read(sessionId: string, afterSeq: number, limit: number): Event[] {
    // The latest first: another process may meanwhile note where they lie, and then they are found both ways.
    const latest = this.#sql.rows<EventRow>(selectLatest, sessionId, afterSeq, limit);
    const rows = this.#sql.rows<EventRow>(selectNoted, afterSeq, sessionId, afterSeq + 1, limit);
    const last = rows.at(-1)?.seq ?? afterSeq;
    for (const row of latest) if (row.seq > last && rows.length !== limit) rows.push(row);
    return rows.map(({ seq, json }, index) => {
      const place = afterSeq + index + 1;
      if (seq !== place) throw damaged(sessionId, place, this.#file);
      return parsed<Event>(json) ?? raise(damaged(sessionId, place, this.#file));
    });
  }

  /**
   * The tally of a session, with what was not yet counted when it was last written down.
   * @throws AgentError `store_damaged`
   */
  tally(sessionId: string, key: number): Tally {
    const tally = this.notedTally(key);
    for (const event of this.read(sessionId, tally.events, -1)) count(tally, event);
    return tally;
  }

  /** The tally of a session as it was last written down. */
  notedTally(key: number): Tally {
    const row = this.#sql.row<{ tally: string }>('SELECT tally FROM tallies WHERE session = ?', key);
    return (row && parsed<Tally>(row.tally)) ?? newTally();
  }

  #insert(standing: Standing, { events, texts }: EventTexts, isOver: boolean): void {
    const { tally, key } = standing;
    let at = 0;
    for (const event of events) {
      if (standing.first === undefined || event.seq - standing.first >= segmentLength) {
        standing.segment = this.#sql.insert(insertSegment, key, event.seq);
        standing.first = event.seq;
        standing.segments += 1;
      }
      const place = this.#sql.insert(insertEvent, standing.segment, event.seq, texts[at] ?? '');
      if (place % notedTogether === 0) this.#note(place);
      count(tally, event);
      at += 1;
    }
    if (!isOver && standing.segments < tallySegments) return;
    standing.segments = 0;
    this.#sql.run('INSERT OR REPLACE INTO tallies VALUES (?, ?)', key, JSON.stringify(tally));
  }

  #note(place: number): void {
    this.#sql.run(notePlaces);
    this.#sql.run("UPDATE counters SET value = ? WHERE name = 'noted'", place);
  }

  /** Where a session stands; its epoch is that of the one who may write. */
  #standing(sessionId: string): Standing | undefined {
    const known = this.#standings.get(sessionId);
    if (known?.checked === this.#foreignWrites) return known;
    const row = this.#sql.row<WriterRow>('SELECT key, epoch FROM sessions WHERE id = ?', sessionId);
    if (row === undefined) this.#standings.delete(sessionId);
    else if (known?.epoch === row.epoch) known.checked = this.#foreignWrites;
    else this.claimed(sessionId, row, row.epoch);
    return this.#standings.get(sessionId);
  }

  #remember(sessionId: string, standing: Standing): void {
    this.#standings.delete(sessionId);
    this.#standings.set(sessionId, standing);
    if (this.#standings.size <= mostRemembered) return;
    const [oldest] = this.#standings.keys();
    if (oldest !== undefined) this.#standings.delete(oldest);
  }
}

interface EventRow {
  readonly seq: number;
  readonly json: string;
}

/** A session and the epoch that may write into it. */
export interface WriterRow {
  readonly key: number;
  readonly epoch: number;
}

const insertSegment = 'INSERT INTO segments (session, first) VALUES (?, ?)';
const insertEvent = 'INSERT INTO events (segment, seq, json) VALUES (?, ?, ?)';

const noted = "(SELECT value FROM counters WHERE name = 'noted')";
const notePlaces = `
  INSERT INTO places SELECT segment, seq, place FROM events WHERE place > ${noted} ORDER BY segment, seq`;

/** From the segment that holds the next event on, segment by segment. */
const selectNoted = `
  SELECT events.seq AS seq, events.json AS json
  FROM sessions
  CROSS JOIN segments ON segments.session = sessions.key
  CROSS JOIN places ON places.segment = segments.segment AND places.seq > ?
  CROSS JOIN events ON events.place = places.place
  WHERE sessions.id = ? AND segments.first >= coalesce(
    (SELECT max(first) FROM segments WHERE session = sessions.key AND first <= ?), 0)
  ORDER BY segments.first, places.seq
  LIMIT ?`;

/** Of those of which it is not noted yet where they lie. */
const selectLatest = `
  SELECT seq, json FROM events
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

function raise(error: AgentError): never {
  throw error;
}

function damaged(sessionId: string, seq: number, file: string): AgentError {
  const message = `Event ${seq} of session ${sessionId} is damaged or missing in ${file}. What comes before it can still be exported.`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}
