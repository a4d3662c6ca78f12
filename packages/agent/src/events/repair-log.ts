import { isObject } from '../values/json.ts';
import type { Event, EventBody } from './event.ts';
import { fitting } from './fitting-event.ts';
import { fold } from './fold.ts';
import { sameJson } from './repetition.ts';
import { eventSchema, knownTypes } from './schema.ts';
import type { State } from './state.ts';
import { emptyState } from './state.ts';

/** Something wrong in a log. */
export interface LogIssue {
  /** Index of the value. */
  readonly at: number;
  /** What is wrong with it, in words that follow "the event" or "the line". */
  readonly what: string;
}

/** A log as one writer would have written it, and what had to be mended. */
export interface RepairedLog {
  /** One session, numbered without gaps, that folds to a valid conversation with nothing left open. */
  readonly events: readonly Event[];
  /** Empty when the log was fine; then the events are those given. */
  readonly problems: readonly LogIssue[];
}

/** A value of the log with its place in what was given. */
interface Entry {
  readonly at: number;
  readonly event: Event;
}

/** What is wrong with the last event of a log whose run was cut off. Its end was added as the last event. */
export const unfinished: string = 'is the last one, but does not end its run';

type Note = (at: number, what: string) => void;

/**
 * Checks and mends the log of one session, read from elsewhere: cut off, shuffled, doubled, damaged. Order
 * follows from the sequence numbers, and what the fold would ignore is left out. Live events, which are never
 * stored, and kinds of events from a later version are passed over. Given what it has mended it finds nothing.
 */
export function repairLog(values: readonly unknown[]): RepairedLog {
  const problems: LogIssue[] = [];
  const note: Note = (at, what) => void problems.push({ at, what });
  const entries = ordered(ofOneSession(read(values, note), note), note);
  const session = entries[0] === undefined ? '' : sessionOf(entries[0].event);
  const { state, events } = replayed(entries, note);
  const last = entries.at(-1);
  if (last !== undefined && state.finished === undefined) {
    note(last.at, unfinished);
    events.push({ ...headOf(last.event), ...ending(state) });
  }
  return {
    events: events.map((event, index) => placed(event, session, index + 1)),
    problems: problems.sort((one, other) => one.at - other.at),
  };
}

/** The stored events among the values. */
function read(values: readonly unknown[], note: Note): Entry[] {
  const entries: Entry[] = [];
  for (const [at, value] of values.entries()) {
    if (!isObject(value) || typeof value['type'] !== 'string') {
      note(at, 'is not an event');
      continue;
    }
    if (typeof value['v'] === 'number' && value['v'] !== 1) {
      note(at, `is of format version ${value['v']}, which a later release reads`);
      continue;
    }
    // The end of a run that no store has, as it is shown: the log goes without it.
    if (value['type'] === 'finished' && !('seq' in value || 'id' in value)) continue;
    const isKnown = knownTypes.has(value['type']);
    if (!isKnown) {
      // A later version may store kinds that this one does not know; without a place it is a live event.
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

/** The session that an event's id names. */
function sessionOf({ id }: Event): string {
  return id.replace(/-\d+$/, '');
}

/** The events of the session that most of them belong to. */
function ofOneSession(entries: readonly Entry[], note: Note): Entry[] {
  const sizes = new Map<string, number>();
  for (const { event } of entries) sizes.set(sessionOf(event), (sizes.get(sessionOf(event)) ?? 0) + 1);
  const [session] = [...sizes].reduce((most, next) => (next[1] > most[1] ? next : most), ['', 0]);
  return entries.filter(({ at, event }) => {
    if (sessionOf(event) === session) {
      if (event.id !== `${session}-${event.seq}`)
        note(at, `has position ${event.seq}, but its id is ${JSON.stringify(event.id)}`);
      return true;
    }
    note(at, `belongs to another session than most: its id is ${JSON.stringify(event.id)}`);
    return false;
  });
}

/** Entries in the order of their places, each place once. */
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
    if (seq < 1) note(entry.at, `has position ${seq}, where the first is 1`);
    if (before !== undefined && last === seq) {
      const same = sameJson(before, entry.event);
      note(entry.at, same ? `is repeated (position ${seq})` : `has position ${seq}, like another event`);
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

/** The events that make sense one after the other. */
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

function headOf({ v, seq, id, time, runId }: Event): Pick<Event, 'v' | 'seq' | 'id' | 'time' | 'runId'> {
  return { v, seq, id, time, runId };
}

function ending({ metrics }: State): EventBody {
  const message = 'The log ends before its run does.';
  return { type: 'finished', status: 'failed', error: { kind: 'agent', code: 'cut_log', message }, metrics };
}

/** The event at this place; the same object when it stands there already. */
function placed(event: Event, session: string, seq: number): Event {
  const id = `${session}-${seq}`;
  return event.seq === seq && event.id === id ? event : { ...event, seq, id };
}
