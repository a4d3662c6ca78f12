import type { Event } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { read } from '@cobbler/agent/input';
import type { SessionStats, Writer } from '@cobbler/agent/store';
import { addToStats, invalidPosition, isSessionId, sequenceGap, writerReplaced } from '@cobbler/agent/store';
import { defined } from '@cobbler/agent/values';
import { addCostsSql, costsJson } from './cost-table.ts';
import type { Database } from './database.ts';
import { isLost, storeError } from './store-error.ts';

/** Maximum number of sessions whose writer state is cached; others are read from the database. */
const maxRemembered = 1000;

/** The state of a session for its current writer. */
interface WriterState {
  readonly epoch: number;
  /** Statistics up to the last event. */
  readonly stats: SessionStats;
  /** True if this writer has appended events. */
  readonly hasAppended: boolean;
}

/** One append. The events are serialized when it is called, so later changes to the objects have no effect. */
interface AppendBatch {
  readonly sessionId: string;
  readonly events: readonly Event[];
  readonly texts: readonly string[];
  readonly writer: Writer;
}

export interface SessionLogOptions {
  readonly db: Database;
  readonly schema: string;
  /** Called after events were appended to a session. */
  readonly onAppend: (sessionId: string, seq: number) => void;
  readonly now: () => number;
}

/**
 * The event logs of sessions. An append is one statement: it finds the session's row by id, epoch and last position,
 * advances it and inserts the events, or matches no row and does nothing. So a replaced writer can never write.
 */
export class PostgresSessionLog {
  readonly #options: SessionLogOptions;
  /** Writer states by session id, least recently written first. */
  readonly #states = new Map<string, WriterState>();
  /** The pending append of each session. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(options: SessionLogOptions) {
    this.#options = options;
  }

  /** Records the new writer of a session. */
  claimed(sessionId: string, epoch: number, stats: SessionStats): void {
    this.#remember(sessionId, { epoch, stats, hasAppended: false });
  }

  forget(sessionId: string): void {
    this.#states.delete(sessionId);
  }

  /** Resolves when no append is pending. */
  async waitForAppends(): Promise<void> {
    await Promise.allSettled(this.#tails.values());
  }

  /** Appends events. Appends to one session run in call order. @throws AgentError as every store does. */
  append(sessionId: string, events: readonly Event[], writer: Writer): Promise<void> {
    const texts = read(events, () => events.map((event) => JSON.stringify(event)), 'events');
    const batch = { sessionId, events, texts, writer };
    const before = this.#tails.get(sessionId) ?? Promise.resolve();
    const written = before.then(() => this.#append(batch));
    const tail = written.catch(() => {});
    this.#tails.set(sessionId, tail);
    void tail.then(() => {
      if (this.#tails.get(sessionId) === tail) this.#tails.delete(sessionId);
    });
    return written;
  }

  /** Returns up to `limit` events after a position, in order. @throws AgentError `store_damaged`. */
  async read(sessionId: string, afterSeq: number, limit: number | undefined): Promise<Event[]> {
    if (!isSessionId(sessionId)) return [];
    const { db, schema } = this.#options;
    const rows = await db.query<{ seq: number; json: string }>(
      `SELECT e.seq, e.json FROM ${schema}.sessions t JOIN ${schema}.events e ON e.session = t.key
       WHERE t.id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3`,
      [sessionId, afterSeq, Number.isFinite(limit) ? limit : null],
    );
    return rows.map(({ seq, json }, index) => {
      if (seq !== afterSeq + index + 1) throw damaged(sessionId, afterSeq + index + 1, db.place);
      return JSON.parse(json) as Event;
    });
  }

  async #append(batch: AppendBatch): Promise<void> {
    const { sessionId, events, writer } = batch;
    const state = await this.#readState(sessionId, writer.epoch);
    const wrong = invalidPosition(events, state.stats.events);
    if (wrong !== undefined) throw sequenceGap(sessionId, wrong.seq);
    const stats = { ...state.stats };
    for (const event of events) addToStats(stats, event);
    try {
      await this.#insert(batch, state, stats);
    } catch (error) {
      this.#states.delete(sessionId);
      throw error;
    }
    if (events.length > 0) this.#options.onAppend(sessionId, stats.events);
    const { epoch, hasAppended } = state;
    // Not if this process has claimed it again in the meantime.
    if (this.#states.get(sessionId) === state)
      this.#remember(sessionId, { epoch, stats, hasAppended: hasAppended || events.length > 0 });
  }

  /**
   * Inserts the events of an append. If the connection breaks, the statement may have been executed, or may still be.
   * A repeated statement has an effect only once, because the row has advanced. So it is repeated until the database
   * responds; if it changes nothing, the stored events are compared with those of the append.
   */
  async #insert(batch: AppendBatch, state: WriterState, stats: SessionStats): Promise<void> {
    const { db } = this.#options;
    const values = this.#values(batch, state, stats);
    let wasLost = false;
    try {
      await db.insistently(async () => {
        try {
          const rows = await db.once(this.#sql(), values);
          if (rows.length === 0 && !(wasLost && (await this.#isStored(batch))))
            throw await this.#refusal(batch);
        } catch (thrown) {
          wasLost ||= isLost(thrown);
          throw thrown;
        }
      });
    } catch (thrown) {
      const error = storeError(thrown, db.place);
      throw wasLost && error.code === 'store_unreachable' ? unknownOutcome(batch, error) : error;
    }
  }

  #values(
    { sessionId, events, texts, writer }: AppendBatch,
    state: WriterState,
    stats: SessionStats,
  ): unknown[] {
    const { now } = this.#options;
    const isOver = writer.release === true || events.at(-1)?.type === 'finished';
    const isChange = isOver || (!state.hasAppended && events.length > 0);
    return [
      sessionId,
      state.epoch,
      state.stats.events,
      stats.events,
      JSON.stringify(stats),
      isChange ? Math.floor(now()) : null,
      isOver,
      events.map(({ seq }) => seq),
      texts,
      costsJson(events),
    ];
  }

  #sql(): string {
    const { schema } = this.#options;
    return `
      WITH held AS (
        UPDATE ${schema}.sessions SET last = $4::int, tally = $5::text, updated = coalesce($6::bigint, updated),
          owner = CASE WHEN $7::boolean THEN NULL ELSE owner END
        WHERE id = $1::text AND epoch = $2::bigint AND last = $3::int
        RETURNING key, id
      ), added AS (
        INSERT INTO ${schema}.events (session, seq, epoch, json)
        SELECT held.key, e.seq, $2::bigint, e.json
        FROM held, unnest($8::int[], $9::text[]) AS e (seq, json)
      ), spent AS (${addCostsSql(schema, 'held', '$10')})
      SELECT 1 FROM held`;
  }

  /** Returns true if the events of an append are stored exactly as this writer would have stored them. */
  async #isStored({ sessionId, events, texts, writer }: AppendBatch): Promise<boolean> {
    const { db, schema } = this.#options;
    const [first] = events;
    if (first === undefined) return true;
    const rows = await db.once<{ json: string }>(
      `SELECT e.json FROM ${schema}.sessions t JOIN ${schema}.events e ON e.session = t.key
       WHERE t.id = $1 AND e.seq BETWEEN $2 AND $3 AND e.epoch = $4 ORDER BY e.seq`,
      [sessionId, first.seq, first.seq + events.length - 1, writer.epoch],
    );
    return rows.length === texts.length && rows.every(({ json }, index) => json === texts[index]);
  }

  async #refusal({ sessionId, events, writer }: AppendBatch): Promise<AgentError> {
    const { db, schema } = this.#options;
    const [row] = await db.once<{ epoch: number }>(`SELECT epoch FROM ${schema}.sessions WHERE id = $1`, [
      sessionId,
    ]);
    return row?.epoch === writer.epoch
      ? sequenceGap(sessionId, events[0]?.seq ?? 0)
      : writerReplaced(sessionId);
  }

  /** Returns the state of a session for the writer of an epoch. @throws AgentError `fenced`. */
  async #readState(sessionId: string, epoch: number): Promise<WriterState> {
    const known = this.#states.get(sessionId);
    if (known?.epoch === epoch) return known;
    if (!isSessionId(sessionId) || !Number.isSafeInteger(epoch)) throw writerReplaced(sessionId);
    const { db, schema } = this.#options;
    const [row] = await db.query<{ tally: string }>(
      `SELECT tally FROM ${schema}.sessions WHERE id = $1 AND epoch = $2`,
      [sessionId, epoch],
    );
    if (row === undefined) throw writerReplaced(sessionId);
    this.claimed(sessionId, epoch, JSON.parse(row.tally) as SessionStats);
    return this.#readState(sessionId, epoch);
  }

  #remember(sessionId: string, state: WriterState): void {
    this.#states.delete(sessionId);
    this.#states.set(sessionId, state);
    if (this.#states.size <= maxRemembered) return;
    const [oldest] = this.#states.keys();
    if (oldest !== undefined) this.#states.delete(oldest);
  }
}

function damaged(sessionId: string, seq: number, place: string): AgentError {
  const message = `Event ${seq} of session ${sessionId} is missing from ${place}. The events before it can still be exported.`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}

function unknownOutcome({ sessionId }: AppendBatch, { message, cause }: AgentError): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'store_unreachable',
    message: `The connection was lost during a write to session ${sessionId} and could not be restored: the events may or may not have been stored. ${message}`,
    retryable: true,
    ...defined({ cause }),
  });
}
