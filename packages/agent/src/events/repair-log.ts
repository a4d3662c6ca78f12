import { withArgumentErrors } from '../values/errors.ts';
import { isObject } from '../values/json.ts';
import { sameJson } from './batch.ts';
import type { Event, EventBody } from './event.ts';
import { fitting } from './fitting-event.ts';
import { fold } from './fold.ts';
import { eventSchema, knownTypes } from './schema.ts';
import type { State } from './state.ts';
import { emptyState } from './state.ts';

/** A problem in a log. */
export interface LogIssue {
  /** Index of the value. */
  readonly at: number;
  /** The problem, as text to append to "the event" or "the line". */
  readonly what: string;
}

/** A log as a single writer would have written it, and the problems that were repaired. */
export interface RepairedLog {
  /** The events of one session, numbered without gaps, that fold to a valid conversation without open calls. */
  readonly events: readonly Event[];
  /** Empty if the log was valid; the events are then the given ones. */
  readonly problems: readonly LogIssue[];
}

interface Entry {
  readonly at: number;
  readonly event: Event;
}

/** The problem of the last event if its run has no end. The repaired log ends with an added event. */
export const unfinished: string = 'is the last event, but does not end its run';

type Note = (at: number, what: string) => void;

/**
 * Checks and repairs the log of one session from an external source: truncated, out of order, duplicated or damaged.
 * The sequence numbers determine the order, and events that the fold would ignore are removed. Live events, which are
 * never stored, are skipped. Stored events of unknown types, from a later version, are kept. A repaired log contains
 * no problems.
 */
export function repairLog(values: readonly unknown[]): RepairedLog {
  return withArgumentErrors('repairLog', () => {
    const problems: LogIssue[] = [];
    const note: Note = (at, what) => void problems.push({ at, what });
    const entries = ordered(ofOneSession(read(values, note), note), note);
    const session = entries[0] === undefined ? '' : sessionOf(entries[0].event);
    const { state, events } = replayed(entries, note);
    const last = entries.at(-1);
    if (last !== undefined && state.finished === undefined) {
      note(last.at, unfinished);
      const { v, seq, id, time, runId } = last.event;
      events.push({ v, seq, id, time, runId, ...ending(state) });
    }
    return {
      events: events.map((event, index) => atPosition(event, session, index + 1)),
      problems: problems.sort((one, other) => one.at - other.at),
    };
  });
}

/** Returns the stored events among the values. */
function read(values: readonly unknown[], note: Note): Entry[] {
  const entries: Entry[] = [];
  for (const [at, value] of values.entries()) {
    if (!isObject(value) || typeof value['type'] !== 'string') {
      note(at, 'is not an event');
      continue;
    }
    if (typeof value['v'] === 'number' && value['v'] !== 1) {
      note(at, `has format version ${value['v']}, which requires a later release`);
      continue;
    }
    // The end of a run that no store contains, as readers receive it, is not part of a log.
    if (value['type'] === 'finished' && !('seq' in value || 'id' in value)) continue;
    const isKnown = knownTypes.has(value['type']);
    if (!isKnown) {
      // A later version may store types that this one does not know. Without a position it is a live event.
      if (isWhole(value)) entries.push({ at, event: value as unknown as Event });
      continue;
    }
    const checked = eventSchema.safeParse(value);
    if (checked.success) entries.push({ at, event: value as unknown as Event });
    else
      note(
        at,
        `is not a valid ${value['type']} event: ${checked.error.issues.slice(0, 3).map(wordsOf).join('; ')}`,
      );
  }
  return entries;
}

function isWhole({ v, seq, id, time, runId }: Record<string, unknown>): boolean {
  return [id, time, runId].every((field) => typeof field === 'string') && v === 1 && Number.isInteger(seq);
}

function wordsOf({
  path,
  message,
}: {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}

/** Returns the session id contained in the id of an event. */
function sessionOf({ id }: Event): string {
  return id.replace(/-\d+$/, '');
}

/** Returns the events of the session that most of them belong to. */
function ofOneSession(entries: readonly Entry[], note: Note): Entry[] {
  const sizes = new Map<string, number>();
  for (const { event } of entries) sizes.set(sessionOf(event), (sizes.get(sessionOf(event)) ?? 0) + 1);
  const [session] = [...sizes].reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['', 0]);
  return entries.filter(({ at, event }) => {
    if (sessionOf(event) === session) {
      if (event.id !== `${session}-${event.seq}`)
        note(at, `has position ${event.seq}, but its id is ${JSON.stringify(event.id)}`);
      return true;
    }
    note(at, `belongs to a different session: its id is ${JSON.stringify(event.id)}`);
    return false;
  });
}

/** Returns the entries in the order of their positions, one for each position. */
function ordered(entries: readonly Entry[], note: Note): Entry[] {
  let furthest = 0;
  for (const { at, event } of entries) {
    if (event.seq < furthest) note(at, `has position ${event.seq} but follows position ${furthest}`);
    furthest = Math.max(furthest, event.seq);
  }
  const result: Entry[] = [];
  for (const entry of [...entries].sort((one, other) => one.event.seq - other.event.seq)) {
    const { seq } = entry.event;
    const before = result.at(-1)?.event;
    const last = before?.seq ?? 0;
    if (seq < 1) note(entry.at, `has position ${seq}, but positions start at 1`);
    if (before !== undefined && last === seq) {
      const same = sameJson(before, entry.event);
      note(
        entry.at,
        same ? `is repeated (position ${seq})` : `has the same position as another event (${seq})`,
      );
      continue;
    }
    if (seq > last + 1) note(entry.at, `follows a gap: ${missing(last + 1, seq - 1)}`);
    result.push(entry);
  }
  return result;
}

function missing(first: number, last: number): string {
  return first === last ? `position ${first} is missing` : `positions ${first} to ${last} are missing`;
}

/** Returns the events that fit one after another, and the state after them. */
function replayed(entries: readonly Entry[], note: Note): { state: State; events: Event[] } {
  const state = emptyState();
  const events: Event[] = [];
  for (const { at, event } of entries) {
    const { problem, event: fits } = fitting(state, event);
    if (problem !== undefined) note(at, problem);
    if (fits === undefined) continue;
    fold(state, fits);
    events.push(fits);
  }
  return { state, events };
}

function ending({ metrics }: State): EventBody {
  const message = 'The log ends before the end of the run.';
  return { type: 'finished', status: 'failed', error: { kind: 'agent', code: 'cut_log', message }, metrics };
}

/** Returns the event at a position; the same object if it is already there. */
function atPosition(event: Event, session: string, seq: number): Event {
  const id = `${session}-${seq}`;
  return event.seq === seq && event.id === id ? event : { ...event, seq, id };
}
