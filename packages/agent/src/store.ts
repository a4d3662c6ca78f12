import { AgentError } from './errors.ts';
import type { Event } from './event.ts';

/**
 * Keeps the events of sessions. What `append` has accepted is never lost or changed.
 *
 * One writer at a time: `claim` gives a session's next epoch, and an append with an older one is refused,
 * so that a process that was believed dead cannot write into a session that another has taken over.
 */
export interface Store {
  /** Takes the session over and gives the epoch to write with. A session begins by being claimed. */
  claim(sessionId: string): number | Promise<number>;
  /**
   * Adds events at the session's end, all or none. May return nothing when it is done at once.
   * @throws AgentError `invalid` with code `fenced` for an old epoch, `gap` for a sequence number out of turn.
   */
  append(
    sessionId: string,
    events: readonly Event[],
    writer: { readonly epoch: number },
  ): void | Promise<void>;
  /** Events of a session after a sequence number, in order. An unknown session has none. */
  read(sessionId: string, afterSeq?: number): readonly Event[] | Promise<readonly Event[]>;
  /** Ids of all sessions, oldest first. */
  sessions(): readonly string[] | Promise<readonly string[]>;
}

/** A store that lives as long as the process. */
export function memoryStore(): Store {
  const kept = new Map<string, { epoch: number; events: Event[] }>();
  const open = (sessionId: string) => {
    const found = kept.get(sessionId) ?? { epoch: 0, events: [] };
    kept.set(sessionId, found);
    return found;
  };
  return {
    claim(sessionId) {
      const session = open(sessionId);
      session.epoch += 1;
      return session.epoch;
    },
    append(sessionId, events, { epoch }) {
      const session = open(sessionId);
      if (epoch !== session.epoch) throw fenced(sessionId);
      for (const [offset, event] of events.entries()) {
        if (event.seq !== session.events.length + offset + 1) throw gap(sessionId, event.seq);
      }
      for (const event of events) session.events.push(event);
    },
    read(sessionId, afterSeq = 0) {
      return kept.get(sessionId)?.events.slice(afterSeq) ?? [];
    },
    sessions: () => [...kept.keys()],
  };
}

/** The refusal of a writer that has been replaced. */
export function fenced(sessionId: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'fenced',
    message: `Session ${sessionId} was taken over by another writer; nothing was written.`,
  });
}

/** The refusal of events that would leave a gap or repeat a place. */
export function gap(sessionId: string, seq: number): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'gap',
    message: `Event ${seq} of session ${sessionId} is out of turn; nothing was written.`,
  });
}
