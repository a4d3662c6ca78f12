import type { Event, SessionInfo, SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import { amount, callable, count, oneOf, optional, read, record, text, when } from '@cobbler/agent/input';
import { isObject } from '@cobbler/agent/provider';
import type {
  CostQuery,
  CostRow,
  ListOptions,
  Origin,
  Retention,
  SessionPage,
  SessionStats,
  ShareLevel,
  Writer,
} from '@cobbler/agent/store';
import {
  checkSessionId,
  isSessionId,
  quartersOf,
  readCostQuery,
  readEvents,
  readListOptions,
  readOrigin,
  readRetention,
  readShareLevel,
  readWriter,
} from '@cobbler/agent/store';
import { deleteCosts, readCosts } from './cost-table.ts';
import type { Connection, Database, PostgresOptions } from './database.ts';
import { databaseReaders } from './database.ts';
import { PostgresOwner } from './owner.ts';
import { openSchema, sessionTables } from './schema.ts';
import { PostgresSessionLog } from './session-log.ts';
import { PostgresSessionTable } from './session-table.ts';
import { PostgresSnapshots } from './snapshots.ts';
import type { WatchListener } from './watch.ts';
import { Watch } from './watch.ts';

/** Options of {@link postgresStore}: the database and how processes share its sessions. */
export interface PostgresStoreOptions extends PostgresOptions {
  /**
   * Address of the server itself, for notifications to {@link PostgresStore.watch}. Default: `url`. A pooler cannot
   * notify, so watching through one polls.
   */
  readonly listenUrl?: string;
  /**
   * Method that limits a session to one run at a time. `lease`: a process holds the sessions of its runs while it is
   * alive. `runner`: a `Runner` ensures it, such as Restate with a key. A claim then always succeeds and excludes the
   * previous writer, so the steps of one run can move between processes. Default `lease`.
   */
  readonly exclusion?: 'lease' | 'runner';
  /** Polling interval if the database cannot notify, in milliseconds. Default 1,000. */
  readonly pollMs?: number;
  /** Polling interval in addition to notifications, in milliseconds. Default 5,000. */
  readonly slowPollMs?: number;
  /** Returns the time of a change in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/** A session store in PostgreSQL. */
export interface PostgresStore extends SessionStore {
  /**
   * Calls the listener with a session and its last position when any process appends to it. Several appends can be
   * reported by one call. Read the events after calling `watch`, otherwise those appended in between are missed.
   * @returns a function that stops watching
   */
  watch(listener: WatchListener): () => void;
  /** True if the database notifies watchers; otherwise they poll. */
  readonly isListening: boolean;
}

const readState = when<State>(
  (value) => isObject(value) && Array.isArray(value['messages']) && typeof value['seq'] === 'number',
  'the state of a session',
);

const readOptions = record<PostgresStoreOptions>(
  {
    ...databaseReaders,
    listenUrl: text,
    exclusion: oneOf('lease', 'runner'),
    pollMs: amount,
    slowPollMs: amount,
    now: callable,
  },
  ['url'],
);

/** Age in milliseconds at which sessions that were claimed but never started are deleted: one day. */
const emptyMs = 86_400_000;

/**
 * Stores sessions in PostgreSQL, version 13 or later, for any number of processes. Events are committed with the
 * durability configured on the server; by default they survive a power failure. The tables are created and migrated
 * on first use.
 * @throws AgentError `invalid`, code `store_address`, `store_schema` or `bad_option`. Methods reject with an AgentError that
 * explains the problem and the fix: codes `store_unreachable`, `store_denied`, `store_missing`, `store_newer`,
 * `store_foreign`, `store_readonly`, `store_full`, `store_busy`, `store_damaged`, `store_closed`.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  return new SessionsInPostgres(read(options, readOptions));
}

class SessionsInPostgres implements PostgresStore {
  readonly #db: Database;
  readonly #schema: string;
  readonly #now: () => number;
  readonly #owner: PostgresOwner | undefined;
  readonly #log: PostgresSessionLog;
  readonly #table: PostgresSessionTable;
  readonly #snapshots: PostgresSnapshots;
  readonly #watch: Watch;
  readonly #notices: Notices;
  /** Background work, whose rejections are ignored. */
  readonly #background = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(options: PostgresStoreOptions) {
    const { exclusion = 'lease', now = Date.now } = options;
    const { listenUrl = options.url, pollMs = 1000, slowPollMs = 5000 } = options;
    const { db, schema, leaseMs } = openSchema(options, 10, (connection) => this.#watch.begin(connection));
    this.#db = db;
    this.#schema = schema;
    this.#now = now;
    this.#owner = exclusion === 'lease' ? new PostgresOwner(this.#db, schema, leaseMs) : undefined;
    const channel = `cobbler_sessions_${schema}`;
    this.#notices = new Notices(this.#db, channel);
    const onAppend = (sessionId: string, seq: number) => this.#notices.add(sessionId, seq);
    this.#log = new PostgresSessionLog({ db: this.#db, schema, onAppend, now });
    const isHeldElsewhere = exclusion === 'runner';
    this.#table = new PostgresSessionTable({ db: this.#db, schema, leaseMs, isHeldElsewhere });
    this.#snapshots = new PostgresSnapshots(this.#db, schema);
    this.#watch = new Watch({ db: this.#db, schema, channel, url: listenUrl, pollMs, slowPollMs });
  }

  get isListening(): boolean {
    return this.#watch.isListening;
  }

  async claim(sessionId: string, origin: Origin = {}): Promise<number> {
    checkSessionId(sessionId);
    this.#checkOpen();
    const given = read(origin, readOrigin, 'origin');
    await this.#owner?.begin();
    const { epoch, tally } = await this.#table.claim(sessionId, given, this.#owner?.lock, this.#now());
    this.#log.claimed(sessionId, epoch, JSON.parse(tally) as SessionStats);
    return epoch;
  }

  async append(sessionId: string, events: readonly Event[], writer: Writer): Promise<void> {
    this.#checkOpen();
    const given = read(events, readEvents, 'events');
    await this.#log.append(read(sessionId, text, 'sessionId'), given, read(writer, readWriter, 'writer'));
  }

  async read(sessionId: string, afterSeq = 0, limit?: number): Promise<readonly Event[]> {
    this.#checkOpen();
    read(afterSeq, count, 'afterSeq');
    return await this.#log.read(sessionId, afterSeq, read(limit, optional(amount), 'limit'));
  }

  async sessions(): Promise<readonly string[]> {
    this.#checkOpen();
    return await this.#table.ids();
  }

  async snapshot(sessionId: string): Promise<State | undefined> {
    if (!isSessionId(sessionId) || this.#closed !== undefined) return undefined;
    try {
      return await this.#snapshots.read(sessionId);
    } catch {
      // The events contain the same information, and show whether the store works.
      return undefined;
    }
  }

  keepSnapshot(sessionId: string, state: State, writer: Writer): void {
    read(sessionId, text, 'sessionId');
    read(state, readState, 'state');
    const { epoch } = read(writer, readWriter, 'writer');
    if (this.#closed !== undefined) return;
    const offered = this.#snapshots.offer(sessionId, state, epoch).catch(() => {});
    this.#background.add(offered);
    void offered.finally(() => this.#background.delete(offered));
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    this.#checkOpen();
    return await this.#table.list(read(options, readListOptions));
  }

  async info(sessionId: string): Promise<SessionInfo | undefined> {
    this.#checkOpen();
    return await this.#table.info(sessionId);
  }

  async rename(sessionId: string, title: string): Promise<boolean> {
    this.#checkOpen();
    return await this.#table.rename(sessionId, read(title, text, 'title'));
  }

  async share(sessionId: string, user: string, may?: ShareLevel): Promise<boolean> {
    const [name, level] = [read(user, text, 'user'), read(may, readShareLevel, 'may')];
    this.#checkOpen();
    return await this.#table.share(sessionId, name, level);
  }

  async delete(sessionId: string): Promise<boolean> {
    this.#checkOpen();
    const isRemoved = await this.#table.remove(sessionId, this.#owner?.lock);
    this.#log.forget(sessionId);
    return isRemoved;
  }

  async prune(retention: Retention): Promise<readonly string[]> {
    const given = read(retention, readRetention, 'retention');
    this.#checkOpen();
    return await this.#table.prune(given, this.#now());
  }

  async costs(query: CostQuery): Promise<readonly CostRow[]> {
    const given = read(query, readCostQuery, 'query');
    this.#checkOpen();
    return await readCosts(this.#db, this.#schema, given);
  }

  async deleteCosts(before: number): Promise<number> {
    const [quarter] = quartersOf({ by: 'day', since: read(before, amount, 'before') });
    this.#checkOpen();
    return await deleteCosts(this.#db, this.#schema, quarter);
  }

  /** Deletes sessions that never started. PostgreSQL itself frees the space of deleted sessions (autovacuum). */
  async vacuum(): Promise<number> {
    this.#checkOpen();
    await this.#table.removeEmpty(this.#now() - emptyMs);
    return 0;
  }

  async probe(): Promise<void> {
    this.#checkOpen();
    await this.#db.query(`UPDATE ${this.#schema}.${sessionTables.mark} SET version = version`);
  }

  watch(listener: WatchListener): () => void {
    this.#checkOpen();
    return this.#watch.add(read<WatchListener>(listener, callable, 'listener'));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#watch.close();
    await this.#log.waitForAppends();
    await this.#notices.waitForNotices();
    await Promise.allSettled(this.#background);
    // If the database is unreachable, the next operation reports it.
    await this.#owner?.end().catch(() => {});
    await this.#db.close();
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return;
    const message = `The store in ${this.#db.place} has been closed.`;
    throw new AgentError({ kind: 'invalid', code: 'store_closed', message });
  }
}

/**
 * Notifies listeners of appends, outside the transaction of the append: the database commits transactions with
 * notifications one at a time, and each would block the others while it waits for the disk. If a notification is lost
 * because the process or the connection ends first, polling finds the events.
 */
class Notices {
  readonly #db: Connection;
  readonly #channel: string;
  /** Latest positions not yet notified, by session. */
  readonly #waiting = new Map<string, number>();
  #sending: Promise<void> | undefined;

  constructor(db: Connection, channel: string) {
    this.#db = db;
    this.#channel = channel;
  }

  /** Adds a notification. Those that arrive while a statement is running are sent together by the next one. */
  add(sessionId: string, seq: number): void {
    this.#waiting.set(sessionId, seq);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async waitForNotices(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0) {
      const payloads = [...this.#waiting].map(([sessionId, seq]) => `${sessionId} ${seq}`);
      this.#waiting.clear();
      try {
        await this.#db.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
          this.#channel,
          payloads,
        ]);
      } catch {
        // Polling finds the events instead.
      }
    }
  }
}
