import type { Event } from '../events/event.ts';
import type { State } from '../events/state.ts';
import { AgentError, argumentError, withArgumentErrors } from '../values/errors.ts';
import { shown } from '../values/invalid-value.ts';
import { isoTime } from '../values/runtime.ts';
import type { CostQuery, CostRow } from './costs.ts';
import type { Parent, SessionInfo, ShareLevel } from './session-info.ts';

/** Identifies the writer of an append and how durable the append must be. */
export interface Writer {
  /** The epoch returned by `claim`. */
  readonly epoch: number;
  /**
   * True if the append must survive a power failure, including everything before it, because something follows that
   * must not happen twice. Otherwise it must only survive the end of the process.
   */
  readonly durable?: boolean;
  /** Releases the session with these events, so that any process may claim it. A `finished` event also releases it. */
  readonly release?: boolean;
}

/** The origin of a session that a claim creates. */
export interface Origin {
  readonly parent?: Parent;
}

/**
 * Stores the events of sessions; this is all that a run needs. Events that `append` has accepted are never lost or
 * changed.
 *
 * One writer at a time: `claim` returns an epoch larger than any before, and an append with an older one is rejected,
 * so that a process that was believed dead cannot write to a session that another has taken over. An implementation
 * must pass `storeContract` from the testing entry.
 */
export interface Store {
  /**
   * Claims the session and returns the epoch to write with. A claim creates a session, which exists for readers once it
   * has an event.
   * @throws AgentError `invalid`, code `session_id` for an invalid id, `in_use` if a run of another live process holds
   * the session.
   */
  claim(sessionId: string, origin?: Origin): number | Promise<number>;
  /**
   * Appends events to the session, all or none. May return undefined if it completes synchronously.
   * @throws AgentError `invalid` with code `fenced` for an old epoch, `gap` for an unexpected sequence number.
   */
  append(sessionId: string, events: readonly Event[], writer: Writer): void | Promise<void>;
  /** Returns at most `limit` events of a session after a sequence number, in order; none for an unknown session. */
  read(sessionId: string, afterSeq?: number, limit?: number): readonly Event[] | Promise<readonly Event[]>;
  /** Returns the ids of all sessions, oldest first. */
  sessions(): readonly string[] | Promise<readonly string[]>;
  /**
   * Returns the folded state of the session up to some event, if the store has it: reading events after its `seq` is
   * faster than reading all. The caller owns the state.
   */
  snapshot?(sessionId: string): State | undefined | Promise<State | undefined>;
  /**
   * Offers the state after the last append; the store may keep it. Must not throw, and is not awaited. The state may
   * change after the call, but its messages may not.
   */
  keepSnapshot?(sessionId: string, state: State, writer: Writer): void;
}

/** Pagination options for a list. */
export interface ListOptions {
  /** Maximum number of sessions to return. Default 50. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly after?: string;
}

/** A page of the list of sessions, last changed first. */
export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** Cursor of the next page; undefined on the last page. */
  readonly next?: string;
}

/** The sessions that `prune` deletes: those that match all given rules. At least one rule is required. */
export interface Retention {
  /** Minimum time since a run last started or ended, in milliseconds. */
  readonly olderThanMs?: number;
  /** Number of most recently changed sessions to keep. */
  readonly keepLast?: number;
}

/** What to search for. */
export interface SearchQuery {
  readonly words: string;
  /** Maximum number of messages to return. Default 50. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly after?: string;
}

/** A message that contains the words. */
export interface SearchHit {
  readonly sessionId: string;
  /** Sequence number of its event. */
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  /** The part of the message around the first match: its pieces in order, of which every second one is a match. */
  readonly snippet: readonly string[];
}

/** A page of messages, the latest first. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** Cursor of the next page; undefined on the last page. */
  readonly next?: string;
  /** False if part of the store is not indexed yet. Search again to continue. */
  readonly isComplete: boolean;
}

/** A store with additional methods for managing sessions. They ignore sessions without events. */
export interface SessionStore extends Store {
  /**
   * Returns a page of sessions.
   * @throws AgentError `invalid`, code `cursor`, for an invalid `after`.
   */
  list(options?: ListOptions): Promise<SessionPage>;
  info(sessionId: string): Promise<SessionInfo | undefined>;
  /** Sets the title, or removes it if it is empty. Returns false if the session does not exist. */
  rename(sessionId: string, title: string): Promise<boolean>;
  /**
   * Shares a session with a user. Without `may`, stops sharing it. Returns false if the session does not exist. Shares end
   * when the session is deleted; forks and exports do not contain them.
   */
  share(sessionId: string, user: string, may?: ShareLevel): Promise<boolean>;
  /**
   * Deletes a session and fences its writers. Returns false if it does not exist.
   * @throws AgentError `invalid`, code `in_use`, if a run of another process holds it.
   */
  delete(sessionId: string): Promise<boolean>;
  /** Deletes old sessions, except those with a run in progress, and returns their ids. */
  prune(retention: Retention): Promise<readonly string[]>;
  /**
   * Returns the costs of all sessions, including deleted ones: days in order, other groups with the most expensive first.
   * `readCosts` from the store entry also works without this method.
   * @throws AgentError `invalid` for an invalid query.
   */
  costs?(query: CostQuery): Promise<readonly CostRow[]>;
  /**
   * Deletes the costs before a time in milliseconds since 1970, rounded down to a quarter of an hour. Sessions remain.
   * Returns the number of requests that are no longer counted.
   */
  deleteCosts?(before: number): Promise<number>;
  /**
   * Sends a message to the run of another live process that holds the session. Returns false if there is none. A store has
   * either all three methods `send`, `receive` and `version`, or none of them.
   */
  send?(sessionId: string, message: string): Promise<boolean>;
  /** Removes the messages for this process's run of the session and returns them, oldest first. */
  receive?(sessionId: string): Promise<readonly string[]>;
  /** Returns a text that changes when any process has written to the store. It costs much less than a read. */
  version?(): string;
  /**
   * Finds messages of users and models that contain all words, or words that begin with them, the latest first. Stores
   * without this method have no full-text search. The first searches of a store index it, a limited part at each call.
   * @throws AgentError `invalid`, code `cursor`, for an invalid `after`.
   */
  search?(query: SearchQuery): Promise<SearchPage>;
  /** Releases the disk space of deleted sessions and returns the number of bytes. */
  vacuum(): Promise<number>;
  /**
   * Checks with a real write whether a prompt can be stored now. Leaves no session or event behind.
   * @throws AgentError that `claim` or `append` would throw now.
   */
  probe(): Promise<void>;
  /** Completes pending writes and releases all sessions. The store cannot be used afterwards. */
  close(): Promise<void>;
}

/** The source of a regular expression for session ids, for code that matches them within a path. */
export const sessionIdPattern: string = '[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}';

const wholeId = new RegExp(`^${sessionIdPattern}$`);

/** Returns whether a string is a session id: 1 to 128 of A-Z, a-z, 0-9 and `._:@-`, starting with a letter or digit. */
export function isSessionId(id: unknown): id is string {
  return typeof id === 'string' && wholeId.test(id);
}

/**
 * Checks a session id.
 * @throws AgentError `invalid`, code `session_id`, for an invalid id.
 */
export function checkSessionId(id: unknown): void {
  if (isSessionId(id)) return;
  const message = `${shown(id)} is not a valid session id: it must have 1 to 128 characters from A-Z, a-z, 0-9 and ._:@-, and start with a letter or digit.`;
  throw new AgentError({ kind: 'invalid', code: 'session_id', message });
}

/**
 * Checks retention rules.
 * @throws AgentError `invalid` for rules that would delete everything, or that are not numbers.
 */
export function checkRetention(given: Retention): void {
  withArgumentErrors('checkRetention', () => {
    const { olderThanMs, keepLast } = given;
    const rules = [olderThanMs, keepLast].filter((rule) => rule !== undefined);
    if (rules.length > 0 && rules.every((rule) => typeof rule === 'number' && rule >= 0)) return;
    const message =
      'Specify how much to keep: a maximum age in milliseconds, a maximum number of sessions, or both, each at least 0.';
    throw new AgentError({ kind: 'invalid', code: 'retention', message });
  });
}

/**
 * Creates the error for a session that another process holds. `owner` is that process, if known; `since` is in
 * milliseconds since 1970.
 */
export function sessionInUse(
  sessionId: string,
  owner?: { readonly pid: number; readonly host: string; readonly since: number },
): AgentError {
  return withArgumentErrors('sessionInUse', () => {
    const who =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid} on ${owner.host}, started at ${isoTime(owner.since)}`;
    const message = `Session ${sessionId} is in use by ${who}. Wait until its run has ended, or end that process, and try again.`;
    return new AgentError({ kind: 'invalid', code: 'in_use', message });
  });
}

/** Creates the error for a store that threw, or returned something that it must not return. */
export function storeFailure(error: unknown): AgentError {
  const { code, name, message } = AgentError.from(error);
  if (code === 'store' && AgentError.is(error)) return error;
  return new AgentError({
    kind: 'agent',
    code: code === 'fenced' ? 'fenced' : 'store',
    message: `The event store failed: ${message}`,
    cause: { name, message },
  });
}

/** Creates the error for a writer that has been replaced. */
export function writerReplaced(sessionId: string): AgentError {
  return withArgumentErrors(
    'writerReplaced',
    () =>
      new AgentError({
        kind: 'invalid',
        code: 'fenced',
        message: `Session ${sessionId} was taken over by another writer; nothing was written.`,
      }),
  );
}

/** Creates the error for events that would leave a gap or repeat a sequence number. */
export function sequenceGap(sessionId: string, seq: number): AgentError {
  return withArgumentErrors(
    'sequenceGap',
    () =>
      new AgentError({
        kind: 'invalid',
        code: 'gap',
        message: `Event ${shown(seq)} of session ${sessionId} has an unexpected sequence number; nothing was written.`,
      }),
  );
}

/** Returns the first event whose sequence number does not follow the event `last`, if any. */
export function invalidPosition(events: readonly Event[], last: number): Event | undefined {
  try {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index] as Event;
      if (event.seq !== last + index + 1) return event;
    }
    return undefined;
  } catch (thrown) {
    throw argumentError('invalidPosition(events)', thrown);
  }
}

/** The position of a session in the list: its last change, and a key that orders sessions changed at the same time. */
export interface ListCursor {
  readonly updated: number;
  readonly key: number;
}

/** The cursor from which a list continues; `parseCursor` reads it. */
export function cursorOf(given: ListCursor): string {
  return withArgumentErrors('cursorOf', () => {
    const { updated, key } = given;
    return `${updated}.${key}`;
  });
}

/**
 * Parses a cursor.
 * @throws AgentError `invalid`, code `cursor`.
 */
export function parseCursor(cursor: string): ListCursor {
  return withArgumentErrors('parseCursor', () => {
    const match = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor);
    if (match === null) {
      const message = `${JSON.stringify(cursor.slice(0, 80))} is not a valid cursor for the list of sessions.`;
      throw new AgentError({ kind: 'invalid', code: 'cursor', message });
    }
    return { updated: Number(match[1]), key: Number(match[2]) };
  });
}

/** Returns the number of sessions per page. */
export function pageSize(given: ListOptions): number {
  return withArgumentErrors('pageSize', () => {
    const { limit = 50 } = given;
    return Math.min(Math.max(Math.floor(limit) || 1, 1), 1000);
  });
}
