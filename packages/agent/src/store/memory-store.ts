import { amount, any, callable, flag, read, record, text } from '../values/input.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { Parent, SessionInfo, Share, ShareLevel } from './session-info.ts';
import { addToStats, changedShares, emptyStats, sessionInfo, titleOf } from './session-info.ts';
import type { HeldSession, MemoryLimits } from './session-memory.ts';
import { memoryLimits, sessionMemory } from './session-memory.ts';
import type { ListCursor, ListOptions, Origin, SessionPage, SessionStore, Writer } from './store.ts';
import {
  checkSessionId,
  cursorOf,
  invalidPosition,
  pageSize,
  parseCursor,
  sequenceGap,
  writerReplaced,
} from './store.ts';
import { readListOptions, readRetention, readShareLevel } from './store-arguments.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions extends MemoryLimits {
  /** Returns the time of a change in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

const storeOptions = record<MemoryStoreOptions>({
  now: callable,
  keepLast: amount,
  keepBytes: amount,
  maxBytes: amount,
});

const readOrigin = record<Origin>({
  parent: record<Parent>({ sessionId: text, seq: amount }, ['sessionId', 'seq']),
});

const writerFields = record<Writer>({ epoch: any, durable: flag, release: flag }, ['epoch']);

/** Reads a writer once. A valid one, which each append has, needs no reader that names what is invalid. */
function ownWriter(writer: Writer): Pick<Writer, 'epoch' | 'release'> {
  try {
    const { epoch, durable = false, release = false } = writer;
    if (typeof epoch === 'number' && typeof durable === 'boolean' && typeof release === 'boolean')
      return { epoch, release };
  } catch {
    // It cannot be read, which the reader says.
  }
  return read(writer, writerFields, 'writer');
}

interface StoredSession extends ListCursor, HeldSession {
  readonly created: number;
  updated: number;
  readonly parent: Parent | undefined;
  title: string | null;
  shares?: readonly Share[] | undefined;
  epoch: number;
  /** True if the latest writer has appended events. */
  hasAppended: boolean;
}

/**
 * Creates a store in memory, which lasts until the process ends and has limits. Claiming a session that was removed throws
 * AgentError `invalid`, code `session_removed`, once; claiming it again starts a new session. An append for which there is
 * no room throws `memory_full`.
 */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  const { now = systemRuntime.now, ...limits } = read(options, storeOptions);
  const memory = sessionMemory<StoredSession>({ ...memoryLimits, ...limits });
  const { held } = memory;
  let epochs = 0;
  let keys = 0;
  const there = (): StoredSession[] => [...held.values()].filter(({ events }) => events.length > 0);
  const newestFirst = (): StoredSession[] =>
    there().sort((one, other) => other.updated - one.updated || other.key - one.key);
  const find = (sessionId: string): StoredSession | undefined => {
    const found = held.get(sessionId);
    return found?.events.length ? found : undefined;
  };
  return {
    claim(sessionId, origin = {}) {
      const { parent } = read(origin, readOrigin, 'origin');
      checkSessionId(sessionId);
      epochs += 1;
      const created = now();
      const found = held.get(sessionId) ?? {
        ...{ id: sessionId, key: ++keys, created, updated: created, parent },
        ...{ title: null, epoch: 0, hasAppended: false, events: [], bytes: 0, isFree: false },
      };
      found.epoch = epochs;
      found.hasAppended = false;
      memory.claim(found);
      return epochs;
    },
    append(sessionId, events, writer) {
      const { epoch, release } = ownWriter(writer);
      const session = held.get(sessionId);
      if (session === undefined || epoch !== session.epoch) throw writerReplaced(sessionId);
      const wrong = invalidPosition(events, session.events.length);
      if (wrong !== undefined) throw sequenceGap(sessionId, wrong.seq);
      memory.append(session, events);
      if (!session.hasAppended || release === true || hasEnded(session)) session.updated = now();
      session.hasAppended ||= events.length > 0;
      if (release === true && session.events.length === 0) session.isFree = true;
    },
    read(sessionId, afterSeq = 0, limit = Number.POSITIVE_INFINITY) {
      checkPosition(afterSeq, 'afterSeq');
      checkPosition(limit, 'limit');
      return held.get(sessionId)?.events.slice(afterSeq, afterSeq + limit) ?? [];
    },
    sessions: () =>
      there()
        .sort((one, other) => one.key - other.key)
        .map(({ id }) => id),
    list: async (options = {}) => pageOf(newestFirst(), read(options, readListOptions)),
    async info(sessionId) {
      const session = find(sessionId);
      return session && infoOf(session);
    },
    async rename(sessionId, title) {
      const session = find(sessionId);
      if (session !== undefined) session.title = titleOf(read(title, text, 'title')) || null;
      return session !== undefined;
    },
    share: async (sessionId, user, may) => share(find(sessionId), user, may),
    async delete(sessionId) {
      const isThere = find(sessionId) !== undefined;
      memory.delete(sessionId);
      return isThere;
    },
    async prune(retention) {
      const { olderThanMs = 0, keepLast = 0 } = read(retention, readRetention, 'retention');
      const latest = now() - olderThanMs;
      const old = newestFirst()
        .slice(Math.floor(keepLast))
        .filter((session) => session.updated <= latest && hasEnded(session));
      for (const { id } of old) memory.delete(id);
      return old.map(({ id }) => id);
    },
    vacuum: async () => 0,
    probe: async () => {},
    close: async () => {
      for (const id of held.keys()) memory.delete(id);
    },
  };
}

function share(session: StoredSession | undefined, user: string, may: ShareLevel | undefined): boolean {
  const [name, level] = [read(user, text, 'user'), read(may, readShareLevel, 'may')];
  if (session !== undefined) session.shares = changedShares(session.shares, name, level);
  return session !== undefined;
}

/** Checks a position in a session. Names it only if it is invalid, because each turn reads. */
function checkPosition(value: number, name: string): void {
  if (typeof value !== 'number') read(value, amount, name);
}

function pageOf(sorted: readonly StoredSession[], options: ListOptions): SessionPage {
  const place = options.after === undefined ? undefined : parseCursor(options.after);
  const rest = sorted.filter((session) => place === undefined || isBehind(session, place));
  const page = rest.slice(0, pageSize(options));
  const last = page.at(-1);
  const next = last !== undefined && rest.length > page.length ? { next: cursorOf(last) } : {};
  return { sessions: page.map(infoOf), ...next };
}

function hasEnded({ events }: StoredSession): boolean {
  return events[events.length - 1]?.type === 'finished';
}

/** Computes the statistics on request, because most sessions in memory are never listed. */
function infoOf(session: StoredSession): SessionInfo {
  const stats = emptyStats();
  for (const event of session.events) addToStats(stats, event);
  return sessionInfo(session, stats, 'running');
}

/** Returns whether a session comes after a position in the list. */
function isBehind(session: ListCursor, place: ListCursor): boolean {
  return session.updated < place.updated || (session.updated === place.updated && session.key < place.key);
}
