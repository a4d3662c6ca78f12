import type { Event } from '../events/event.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { Parent, SessionInfo } from './session-info.ts';
import { addToStats, emptyStats, sessionInfo, titleOf } from './session-info.ts';
import type { ListCursor, ListOptions, Origin, SessionPage, SessionStore } from './store.ts';
import {
  checkRetention,
  checkSessionId,
  cursorOf,
  invalidPosition,
  pageSize,
  parseCursor,
  sequenceGap,
  writerReplaced,
} from './store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Returns the time of a change in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /**
   * Maximum number of sessions. When it is exceeded, the least recently claimed ones are removed, except those with a
   * running or waiting run. Default: all, until the process ends.
   */
  readonly keepLast?: number;
}

interface StoredSession extends ListCursor {
  readonly id: string;
  readonly created: number;
  updated: number;
  readonly parent: Parent | undefined;
  title: string | null;
  epoch: number;
  /** True if the latest writer has appended events. */
  isBegun: boolean;
  readonly events: Event[];
}

/** Creates a store that lasts until the process ends. */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  const { now = systemRuntime.now, keepLast: maxKept = Number.POSITIVE_INFINITY } = options;
  /** Sessions by id, most recently claimed last. */
  const kept = new Map<string, StoredSession>();
  let epochs = 0;
  let keys = 0;
  const there = (): StoredSession[] => [...kept.values()].filter(({ events }) => events.length > 0);
  const newestFirst = (): StoredSession[] =>
    there().sort((one, other) => other.updated - one.updated || other.key - one.key);
  const find = (sessionId: string): StoredSession | undefined => {
    const found = kept.get(sessionId);
    return found?.events.length ? found : undefined;
  };
  const forget = (): void => {
    for (const [id, session] of kept) {
      if (kept.size <= maxKept) return;
      if (isOver(session)) kept.delete(id);
    }
  };
  return {
    claim(sessionId, { parent }: Origin = {}) {
      checkSessionId(sessionId);
      epochs += 1;
      const created = now();
      const found = kept.get(sessionId) ?? {
        ...{ id: sessionId, key: ++keys, created, updated: created, parent },
        ...{ title: null, epoch: 0, isBegun: false, events: [] },
      };
      found.epoch = epochs;
      found.isBegun = false;
      kept.delete(sessionId);
      kept.set(sessionId, found);
      forget();
      return epochs;
    },
    append(sessionId, events, { epoch, release }) {
      const session = kept.get(sessionId);
      if (session === undefined || epoch !== session.epoch) throw writerReplaced(sessionId);
      const wrong = invalidPosition(events, session.events.length);
      if (wrong !== undefined) throw sequenceGap(sessionId, wrong.seq);
      for (const event of events) session.events.push(event);
      if (!session.isBegun || release === true || hasEnded(session)) session.updated = now();
      session.isBegun ||= events.length > 0;
    },
    read: (sessionId, afterSeq = 0, limit = Number.POSITIVE_INFINITY) =>
      kept.get(sessionId)?.events.slice(afterSeq, afterSeq + limit) ?? [],
    sessions: () =>
      there()
        .sort((one, other) => one.key - other.key)
        .map(({ id }) => id),
    list: async (options = {}) => pageOf(newestFirst(), options),
    async info(sessionId) {
      const session = find(sessionId);
      return session && infoOf(session);
    },
    async rename(sessionId, title) {
      const session = find(sessionId);
      if (session !== undefined) session.title = titleOf(title) || null;
      return session !== undefined;
    },
    async delete(sessionId) {
      const isThere = find(sessionId) !== undefined;
      kept.delete(sessionId);
      return isThere;
    },
    async prune(retention) {
      checkRetention(retention);
      const { olderThanMs = 0, keepLast = 0 } = retention;
      const latest = now() - olderThanMs;
      const old = newestFirst()
        .slice(Math.floor(keepLast))
        .filter((session) => session.updated <= latest && hasEnded(session));
      for (const { id } of old) kept.delete(id);
      return old.map(({ id }) => id);
    },
    vacuum: async () => 0,
    probe: async () => {},
    close: async () => kept.clear(),
  };
}

function pageOf(sorted: readonly StoredSession[], options: ListOptions): SessionPage {
  const place = options.after === undefined ? undefined : parseCursor(options.after);
  const rest = sorted.filter((session) => place === undefined || isBehind(session, place));
  const page = rest.slice(0, pageSize(options));
  const last = page.at(-1);
  const next = last !== undefined && rest.length > page.length ? { next: cursorOf(last) } : {};
  return { sessions: page.map(infoOf), ...next };
}

/** Returns true if no run is in progress or waiting for the user. */
function isOver({ events }: StoredSession): boolean {
  const last = events.at(-1);
  return last?.type === 'finished' && last.status !== 'waiting';
}

function hasEnded({ events }: StoredSession): boolean {
  return events.at(-1)?.type === 'finished';
}

/** Computes the statistics on request, because most sessions in memory are never listed. */
function infoOf(session: StoredSession): SessionInfo {
  const tally = emptyStats();
  for (const event of session.events) addToStats(tally, event);
  return sessionInfo(session, tally, 'running');
}

/** Returns whether a session comes after a position in the list. */
function isBehind(session: ListCursor, place: ListCursor): boolean {
  return session.updated < place.updated || (session.updated === place.updated && session.key < place.key);
}
