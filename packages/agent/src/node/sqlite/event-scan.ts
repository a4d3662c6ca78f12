import type { Event } from '../../events/event.ts';
import { eventChecksum, eventSeed } from './checksum.ts';
import { isCorrupt } from './database-error.ts';
import type { Statements } from './statements.ts';

/** A stored event. */
export interface EventRow {
  readonly seq: number;
  readonly json: string;
  readonly sum: number | null;
}

/** Returns the event of a row, or undefined if the row is not what was stored at this position of this session. */
export function eventOf({ seq, json, sum }: EventRow, sessionId: string): Event | undefined {
  // A damaged row can contain values of other types.
  if (typeof json !== 'string') return undefined;
  if (sum !== null && sum !== eventChecksum(eventSeed(sessionId), seq, json)) return undefined;
  try {
    const event = JSON.parse(json) as Event | null;
    return event?.seq === seq ? event : undefined;
  } catch {
    return undefined;
  }
}

/** The intact events of a session by sequence number, and whether all rows of the table could be read. */
export interface ScannedEvents {
  readonly events: ReadonlyMap<number, Event>;
  readonly isWhole: boolean;
}

/**
 * Finds the events of a session without any index: reads the table from its beginning, and from its end if a page in
 * between cannot be read. The time is proportional to the file size, so use it only for damaged files.
 */
export function scanEvents(sql: Statements, sessionId: string): ScannedEvents {
  const events = new Map<number, Event>();
  const isWhole = ['ASC', 'DESC'].some((order) => {
    try {
      for (const row of sql.each<EventRow>(`SELECT seq, json, sum FROM events ORDER BY place ${order}`)) {
        const event = isOf(row, sessionId) ? eventOf(row, sessionId) : undefined;
        if (event !== undefined) events.set(row.seq, event);
      }
      return true;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      return false;
    }
  });
  return { events, isWhole };
}

/** A row with a checksum matches only one session; without one, the event id identifies the session. */
function isOf({ seq, json, sum }: EventRow, sessionId: string): boolean {
  if (typeof json !== 'string') return false;
  return sum === null
    ? json.includes(`"id":"${sessionId}-${seq}"`)
    : sum === eventChecksum(eventSeed(sessionId), seq, json);
}
