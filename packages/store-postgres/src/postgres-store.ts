import type { Event, SessionInfo, SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import type { ListOptions, Origin, Retention, SessionPage, SessionStats, Writer } from '@cobbler/agent/store';
import { checkRetention, checkSessionId, isSessionId } from '@cobbler/agent/store';
import type { Connection } from './database.ts';
import { Database } from './database.ts';
import { PostgresOwner } from './owner.ts';
import { checkSchemaName, mark, migrate } from './schema.ts';
import { PostgresSessionLog } from './session-log.ts';
import { PostgresSessionTable } from './session-table.ts';
import { PostgresSnapshots } from './snapshots.ts';
import type { WatchListener } from './watch.ts';
import { Watch } from './watch.ts';

/** Which database `postgresStore` keeps sessions in, and how it shares them between processes. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/name`, of the server or of a pooler in transaction mode. */
  readonly url: string;
  /** The server itself, for {@link PostgresStore.watch}. Default: `url`, with polling: a pooler cannot notify. */
  readonly listenUrl?: string;
  /** Which schema the tables are in; made when it is missing. Default `cobbler`. */
  readonly schema?: string;
  /**
   * Ensures that a session has one run at a time. `lease`: each process holds the sessions that it runs while it is
   * alive. `runner`: a `Runner` does, as Restate with a key; then a claim always succeeds and excludes the previous
   * writer, so that steps of one run may move between processes. Default `lease`.
   */
  readonly exclusion?: 'lease' | 'runner';
  /** Time of silence after which a process counts as dead, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** Maximum number of connections. Default 10. */
  readonly connections?: number;
  /** Time limit for retries when the database is unreachable, in milliseconds. Default 4,000: less than a run waits. */
  readonly busyMs?: number;
  /** Time limit for one statement, in milliseconds. Default 10,000. */
  readonly statementMs?: number;
  /** Polling interval where the database cannot notify, in milliseconds. Default 1,000. */
  readonly pollMs?: number;
  /** Polling interval in addition to notifications. Default 5,000. */
  readonly slowPollMs?: number;
  /** Time of changes, milliseconds since 1970. Default: the clock. */
  readonly now?: () => number;
}

/** Sessions in PostgreSQL. */
export interface PostgresStore extends SessionStore {
  /**
   * Calls back when something was appended to a session, by whatever process: with the last place, once for all that
   * came together. Gives what ends that. Read what there is after it, or what came in between is missed.
   */
  watch(listener: WatchListener): () => void;
  /** True if the database notifies watchers; otherwise they poll. */
  readonly isListening: boolean;
}

/** Sessions that were claimed but never started are deleted after a day. */
const emptyMs = 86_400_000;

/**
 * Sessions in PostgreSQL, version 13 or later, for any number of processes. What was appended is committed as the
 * server is set to: by default it survives a power cut. Tables are made, and brought up to date, at the first use.
 * @throws AgentError `invalid`, code `store_address` or `store_schema`. Methods reject with AgentErrors that say what
 * is wrong and what to do: codes `store_unreachable`, `store_denied`, `store_missing`, `store_newer`, `store_foreign`,
 * `store_readonly`, `store_full`, `store_busy`, `store_damaged`, `store_closed`.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  return new SessionsInPostgres(options);
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
  /** Ignores the rejection of background work. */
  readonly #background = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(options: PostgresStoreOptions) {
    const { url, schema = 'cobbler', exclusion = 'lease', leaseMs = 15_000, now = Date.now } = options;
    const { connections = 10, busyMs = 4000, statementMs = 10_000 } = options;
    const { listenUrl = url, pollMs = 1000, slowPollMs = 5000 } = options;
    checkSchemaName(schema);
    const prepare = async (connection: Connection): Promise<void> => {
      await migrate(connection, schema);
      await this.#watch.begin(connection);
    };
    this.#db = new Database({ url, connections, busyMs, statementMs, prepare });
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
    await this.#owner?.begin();
    const { epoch, tally } = await this.#table.claim(sessionId, origin, this.#owner?.lock, this.#now());
    this.#log.claimed(sessionId, epoch, JSON.parse(tally) as SessionStats);
    return epoch;
  }

  async append(sessionId: string, events: readonly Event[], writer: Writer): Promise<void> {
    this.#checkOpen();
    await this.#log.append(sessionId, events, writer);
  }

  async read(sessionId: string, afterSeq = 0, limit?: number): Promise<readonly Event[]> {
    this.#checkOpen();
    return await this.#log.read(sessionId, afterSeq, limit);
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
      // The events say the same, and whether the store is all right.
      return undefined;
    }
  }

  keepSnapshot(sessionId: string, state: State, { epoch }: Writer): void {
    if (this.#closed !== undefined) return;
    const offered = this.#snapshots.offer(sessionId, state, epoch);
    this.#background.add(offered);
    void offered.finally(() => this.#background.delete(offered));
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    this.#checkOpen();
    return await this.#table.list(options);
  }

  async info(sessionId: string): Promise<SessionInfo | undefined> {
    this.#checkOpen();
    return await this.#table.info(sessionId);
  }

  async rename(sessionId: string, title: string): Promise<boolean> {
    this.#checkOpen();
    return await this.#table.rename(sessionId, title);
  }

  async delete(sessionId: string): Promise<boolean> {
    this.#checkOpen();
    const isRemoved = await this.#table.remove(sessionId, this.#owner?.lock);
    this.#log.forget(sessionId);
    return isRemoved;
  }

  async prune(retention: Retention): Promise<readonly string[]> {
    checkRetention(retention);
    this.#checkOpen();
    return await this.#table.prune(retention, this.#now());
  }

  /** Deletes sessions that never started. PostgreSQL itself frees the space of deleted sessions (autovacuum). */
  async vacuum(): Promise<number> {
    this.#checkOpen();
    await this.#table.removeEmpty(this.#now() - emptyMs);
    return 0;
  }

  async probe(): Promise<void> {
    this.#checkOpen();
    await this.#db.query(`UPDATE ${this.#schema}.${mark} SET version = version`);
  }

  watch(listener: WatchListener): () => void {
    this.#checkOpen();
    return this.#watch.add(listener);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#watch.close();
    await this.#log.settled();
    await this.#notices.settled();
    await Promise.allSettled(this.#background);
    // An unreachable database is detected by its next use.
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
 * Notifies listeners of appends. Not in the append's transaction: the database commits transactions with notifications
 * one after the other, and each would block the others while it waits for the disk. A notification that is lost,
 * because the process or the connection ends first, is replaced by polling.
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

  /** Notifications that arrive during one statement share the next one. */
  add(sessionId: string, seq: number): void {
    this.#waiting.set(sessionId, seq);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async settled(): Promise<void> {
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
        // Looked for instead.
      }
    }
  }
}
