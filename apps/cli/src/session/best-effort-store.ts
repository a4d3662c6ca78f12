import type { Event, Store } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import type { Origin, Writer } from '@cobbler/agent/store';

/**
 * A store that keeps events in memory when they cannot be written, and writes them later, so that a full disk does
 * not prevent a response. Rejections remain rejections: a session in use elsewhere is not written to.
 */
export class BestEffortStore implements Store {
  readonly #inner: Store;
  readonly #onTrouble: (error: AgentError) => void;
  /** Events that could not be written, by session, in order. */
  readonly #backlog = new Map<string, Event[]>();
  /** Sessions that could not even be claimed: all their events are in the backlog. */
  readonly #unclaimed = new Set<string>();
  #hasReported = false;

  /** `onTrouble` is called once. */
  constructor(inner: Store, onTrouble: (error: AgentError) => void) {
    this.#inner = inner;
    this.#onTrouble = onTrouble;
  }

  /** Number of events of a session that are not stored. */
  missing(sessionId: string): number {
    return this.#backlog.get(sessionId)?.length ?? 0;
  }

  async claim(sessionId: string, origin?: Origin): Promise<number> {
    try {
      const epoch = await this.#inner.claim(sessionId, origin);
      this.#unclaimed.delete(sessionId);
      return epoch;
    } catch (thrown) {
      this.#trouble(thrown);
      this.#unclaimed.add(sessionId);
      return 0;
    }
  }

  async append(sessionId: string, events: readonly Event[], writer: Writer): Promise<void> {
    const waiting = this.#backlog.get(sessionId)?.splice(0) ?? [];
    const all = [...waiting, ...events];
    try {
      if (!this.#unclaimed.has(sessionId)) return await this.#inner.append(sessionId, all, writer);
    } catch (thrown) {
      this.#trouble(thrown, this.#backlog.has(sessionId));
    }
    const later = this.#backlog.get(sessionId) ?? [];
    // Events that arrived while this write failed come after it, unless theirs failed first.
    const place = later.findIndex(({ seq }) => seq > (all[0]?.seq ?? 0));
    later.splice(place === -1 ? later.length : place, 0, ...all);
    this.#backlog.set(sessionId, later);
  }

  async read(sessionId: string, afterSeq = 0, limit?: number): Promise<readonly Event[]> {
    const waiting = this.#backlog.get(sessionId) ?? [];
    const kept = this.#unclaimed.has(sessionId) ? [] : await this.#inner.read(sessionId, afterSeq, limit);
    const last = kept.at(-1)?.seq ?? afterSeq;
    return [...kept, ...waiting.filter(({ seq }) => seq > last)].slice(0, limit);
  }

  sessions(): readonly string[] | Promise<readonly string[]> {
    return this.#inner.sessions();
  }

  snapshot(sessionId: string): State | undefined | Promise<State | undefined> {
    return this.#inner.snapshot?.(sessionId);
  }

  keepSnapshot(sessionId: string, state: State, writer: Writer): void {
    if (this.missing(sessionId) === 0 && !this.#unclaimed.has(sessionId))
      this.#inner.keepSnapshot?.(sessionId, state, writer);
  }

  /**
   * Reports a failure once.
   * @throws the error if it says that another writer owns the session. A sequence gap is our own only if events are
   * missing.
   */
  #trouble(thrown: unknown, isBehind = false): void {
    const error = AgentError.from(thrown);
    const { code = '' } = error;
    if (['in_use', 'session_id', 'fenced'].includes(code) || (code === 'gap' && !isBehind)) throw error;
    if (!this.#hasReported) this.#onTrouble(error);
    this.#hasReported = true;
  }
}
