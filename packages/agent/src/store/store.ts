import type { Event } from '../events/event.ts';
import type { State } from '../events/state.ts';
import { AgentError } from '../values/errors.ts';
import { isoTime } from '../values/runtime.ts';
import type { Parent, SessionInfo } from './session-info.ts';

/** Who appends, and how. */
export interface Writer {
  /** What `claim` gave. */
  readonly epoch: number;
  /**
   * The append is done only when a power cut could not undo it, nor anything before it: something follows that
   * must not happen twice. Otherwise it is enough that the end of the process cannot.
   */
  readonly durable?: boolean;
  /** Gives the session back with these events: any process may claim it then. A `finished` event does so too. */
  readonly release?: boolean;
}

/** How a session that is made by a claim began. */
export interface Origin {
  readonly parent?: Parent;
}

/**
 * Keeps the events of sessions: what a run needs. What `append` has accepted is never lost or changed.
 *
 * One writer at a time: `claim` gives an epoch larger than any before, and an append with an older one is
 * refused, so that a process that was believed dead cannot write into a session that another has taken over.
 * `storeContract` in the testing entry is what an implementation has to pass.
 */
export interface Store {
  /**
   * Takes the session over and gives the epoch to write with. A session begins by being claimed; it is there
   * once it has an event.
   * @throws AgentError `invalid`, code `session_id` for a text that is no id, `in_use` when a run of another
   * process that is alive holds the session.
   */
  claim(sessionId: string, origin?: Origin): number | Promise<number>;
  /**
   * Adds events at the session's end, all or none. May return nothing when it is done at once.
   * @throws AgentError `invalid` with code `fenced` for an old epoch, `gap` for a sequence number out of turn.
   */
  append(sessionId: string, events: readonly Event[], writer: Writer): void | Promise<void>;
  /** At most `limit` events of a session after a sequence number, in order. An unknown session has none. */
  read(sessionId: string, afterSeq?: number, limit?: number): readonly Event[] | Promise<readonly Event[]>;
  /** Ids of all sessions, oldest first. */
  sessions(): readonly string[] | Promise<readonly string[]>;
  /**
   * What folding the session's events up to some point gives, when the store has it at hand: reading on from
   * its `seq` is quicker than from the beginning. The state is the caller's.
   */
  snapshot?(sessionId: string): State | undefined | Promise<State | undefined>;
  /**
   * Offers the state after the last append; the store keeps it when it likes. Does not throw and is not waited
   * for. The state may change after the call, its messages may not.
   */
  keepSnapshot?(sessionId: string, state: State, writer: Writer): void;
}

/** Which part of a list. */
export interface ListOptions {
  /** Most sessions to give. Default 50. */
  readonly limit?: number;
  /** What the page before gave as `next`. */
  readonly after?: string;
}

/** A part of the list of sessions, last changed first. */
export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** Where the next page begins; absent on the last. */
  readonly next?: string;
}

/** What `prune` deletes: what both rules allow. At least one has to be given. */
export interface Retention {
  /** Only sessions in which no run began or ended for this long, in milliseconds. */
  readonly olderThanMs?: number;
  /** Only sessions behind so many that were changed later. */
  readonly keepLast?: number;
}

/** A store with what people need besides. Nothing here concerns a session that is not there. */
export interface SessionStore extends Store {
  /** @throws AgentError `invalid`, code `cursor`, for an `after` that no page gave. */
  list(options?: ListOptions): Promise<SessionPage>;
  info(sessionId: string): Promise<SessionInfo | undefined>;
  /** Gives a title, or takes it back when it is empty. False: there is no such session. */
  rename(sessionId: string, title: string): Promise<boolean>;
  /**
   * Deletes a session; what still writes into it is fenced. False: there is no such session.
   * @throws AgentError `invalid`, code `in_use`, when a run of another process holds it.
   */
  delete(sessionId: string): Promise<boolean>;
  /** Deletes old sessions, save those with a run under way, and gives their ids. */
  prune(retention: Retention): Promise<readonly string[]>;
  /** Gives room that deleted sessions took back to the disk, and says how many bytes. */
  vacuum(): Promise<number>;
  /**
   * Tries whether a prompt could be stored now, by a write of its own. Leaves no session and no event behind.
   * @throws AgentError what `claim` or `append` would throw now.
   */
  probe(): Promise<void>;
  /** Writes what waits and gives everything back. Nothing can be done with the store afterwards. */
  close(): Promise<void>;
}

/** What the id of a session is made of, as the source of a pattern for those who match it within a path. */
export const sessionIdPattern: string = '[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}';

const wholeId = new RegExp(`^${sessionIdPattern}$`);

/** Whether a text is the id of a session: 1 to 128 of A-Z, a-z, 0-9 and `._:@-`, a letter or digit first. */
export function isSessionId(id: string): boolean {
  return wholeId.test(id);
}

/** @throws AgentError `invalid`, code `session_id`, for a text that is no id. */
export function checkSessionId(id: string): void {
  if (isSessionId(id)) return;
  const message = `${JSON.stringify(id.slice(0, 80))} is not a session id: it takes 1 to 128 of A-Z, a-z, 0-9 and ._:@- and begins with a letter or digit.`;
  throw new AgentError({ kind: 'invalid', code: 'session_id', message });
}

/** @throws AgentError `invalid` for rules that would delete everything, or are no numbers. */
export function checkRetention({ olderThanMs, keepLast }: Retention): void {
  const given = [olderThanMs, keepLast].filter((rule) => rule !== undefined);
  if (given.length > 0 && given.every((rule) => rule >= 0)) return;
  const message = 'Say what to keep: an age in milliseconds, a number of sessions, or both, each from 0 up.';
  throw new AgentError({ kind: 'invalid', code: 'retention', message });
}

/** The refusal of a session that another process holds, since a time in milliseconds since 1970, as far as is known. */
export function sessionInUse(
  sessionId: string,
  owner?: { readonly pid: number; readonly host: string; readonly since: number },
): AgentError {
  const who =
    owner === undefined
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, which began ${isoTime(owner.since)}`;
  const message = `Session ${sessionId} is in use by ${who}. Wait until its run has ended, or end that process, and try again.`;
  return new AgentError({ kind: 'invalid', code: 'in_use', message });
}

/** The refusal of a writer that has been replaced. */
export function writerReplaced(sessionId: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'fenced',
    message: `Session ${sessionId} was taken over by another writer; nothing was written.`,
  });
}

/** The refusal of events that would leave a gap or repeat a place. */
export function sequenceGap(sessionId: string, seq: number): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'gap',
    message: `Event ${seq} of session ${sessionId} is out of turn; nothing was written.`,
  });
}

/** The refusal of a cursor that no list gave. */
export function badCursor(cursor: string): AgentError {
  const message = `${JSON.stringify(cursor.slice(0, 80))} is not a position in the list of sessions.`;
  return new AgentError({ kind: 'invalid', code: 'cursor', message });
}

/** The first event that is not at its place after the event `last`, if any. */
export function invalidPosition(events: readonly Event[], last: number): Event | undefined {
  return events.find(({ seq }, offset) => seq !== last + offset + 1);
}

/** Where a session stands in the list: when it changed, and a number that tells those of one moment apart. */
export interface ListCursor {
  readonly updated: number;
  readonly key: number;
}

/** The cursor after which a list goes on; `placeOf` reads it again. */
export function cursorOf({ updated, key }: ListCursor): string {
  return `${updated}.${key}`;
}

/** @throws AgentError `invalid`, code `cursor`. */
export function parseCursor(cursor: string): ListCursor {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor);
  if (match === null) throw badCursor(cursor);
  return { updated: Number(match[1]), key: Number(match[2]) };
}

/** How many sessions a page of a list has. */
export function pageSize({ limit = 50 }: ListOptions): number {
  return Math.min(Math.max(Math.floor(limit) || 1, 1), 1000);
}
