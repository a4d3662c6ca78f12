import type { Event } from '../events/event.ts';
import { AgentError, argumentError } from '../values/errors.ts';
import { frozen } from '../values/owned.ts';
import { sizeOf } from '../values/sizes.ts';

/** The limits of a store in memory. */
export interface MemoryLimits {
  /**
   * Maximum number of sessions. When it is exceeded, the least recently claimed ones are removed, except those with a
   * running or waiting run. Default: no limit.
   */
  readonly keepLast?: number;
  /**
   * Maximum number of bytes of all sessions, estimated from the number of characters. When it is exceeded, sessions are
   * removed as with `keepLast`. Default 67,108,864.
   */
  readonly keepBytes?: number;
  /**
   * Maximum number of bytes including the sessions that cannot be removed, because their runs have not ended. A run whose
   * next event would exceed it fails. Default 268,435,456.
   */
  readonly maxBytes?: number;
}

/** The limits of a store in memory, if no option changes them. */
export const memoryLimits: Required<MemoryLimits> = {
  keepLast: Number.POSITIVE_INFINITY,
  keepBytes: 67_108_864,
  maxBytes: 268_435_456,
};

/** Number of removed sessions whose ids are kept, so that using one of them is an error once. */
const maxRemoved = 10_000;

/** Bytes that a session counts in addition to its events. */
const sessionBytes = 1_000;

/** A session as far as its memory matters. */
export interface HeldSession {
  readonly id: string;
  readonly events: Event[];
  bytes: number;
  /** True if no run needs it: it was released without events, or there was no room for the next event of its run. */
  isFree: boolean;
}

/** The sessions of a store in memory, within limits. Only sessions without a running or waiting run are removed. */
export interface SessionMemory<Session extends HeldSession> {
  /** Sessions by id, most recently claimed last. */
  readonly held: ReadonlyMap<string, Session>;
  /**
   * Adds a session, or makes it the most recently claimed one.
   * @throws AgentError `invalid`, code `session_removed`, once for a session that was removed; `memory_full`.
   */
  claim(session: Session): void;
  /**
   * Adds events to a session.
   * @throws AgentError `invalid`, code `memory_full`. The session is then one of those that can be removed.
   */
  append(session: Session, events: readonly Event[]): void;
  delete(id: string): void;
}

/** Creates an empty memory. */
export function sessionMemory<Session extends HeldSession>({
  keepLast,
  keepBytes,
  maxBytes,
}: Required<MemoryLimits>): SessionMemory<Session> {
  const held = new Map<string, Session>();
  const removed = new Set<string>();
  let total = 0;
  const drop = (id: string): void => {
    total -= held.get(id)?.bytes ?? 0;
    held.delete(id);
  };
  /** Removes sessions until the new bytes of one of them fit. Throws if they do not fit even then. */
  const add = (own: Session, bytes: number): void => {
    own.bytes += bytes;
    total += bytes;
    for (const session of held.values()) {
      if (held.size <= keepLast && total <= keepBytes) break;
      if (session === own || !canGo(session)) continue;
      drop(session.id);
      removed.add(session.id);
      const [oldest = ''] = removed;
      if (removed.size > maxRemoved) removed.delete(oldest);
    }
    if (total <= maxBytes) return;
    const message = `The running and waiting sessions in memory would need ${total} bytes, but maxBytes is ${maxBytes}. Raise maxBytes, or use sqliteStore.`;
    own.bytes -= bytes;
    total -= bytes;
    own.isFree = true;
    if (own.events.length === 0) drop(own.id);
    throw refusal('memory_full', message);
  };
  return {
    held,
    delete: drop,
    claim(session) {
      const { id } = session;
      if (removed.delete(id))
        throw refusal(
          'session_removed',
          `Session ${id} was removed to free memory. To start a new session with this id, repeat the call. To keep more sessions, raise keepBytes or use sqliteStore.`,
        );
      session.isFree = false;
      const bytes = held.delete(id) ? 0 : sessionBytes;
      held.set(id, session);
      add(session, bytes);
    },
    append(session, events) {
      let bytes: number;
      try {
        // Readers share them. Before anything changes, because reading can fail.
        for (const event of events) frozen(event);
        bytes = sizeOf(events);
      } catch (thrown) {
        throw argumentError('append', thrown);
      }
      add(session, bytes);
      session.events.push(...events);
    },
  };
}

/** Returns true if no run is in progress or waiting for the user. */
function canGo({ events, isFree }: HeldSession): boolean {
  const last = events.at(-1);
  return isFree || (last?.type === 'finished' && last.status !== 'waiting');
}

function refusal(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
