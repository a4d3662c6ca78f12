import { backoff } from '@cobbler/agent/values';
import pg from 'pg';
import type { Connection, Database } from './database.ts';

/** Called with a session and its last position, sometimes twice for the same position. */
export type WatchListener = (sessionId: string, seq: number) => void;

export interface WatchOptions {
  readonly db: Database;
  readonly schema: string;
  readonly channel: string;
  /** Address to listen at. */
  readonly url: string;
  /** Polling interval without notifications, in milliseconds. */
  readonly pollMs: number;
  /** Polling interval in addition to notifications, in milliseconds. */
  readonly slowPollMs: number;
}

/** Maximum number of sessions whose last notification is remembered. */
const maxRemembered = 10_000;

/** First and maximum delay before listening is retried, in milliseconds. The delay doubles each time. */
const firstPauseMs = 200;
const maxPauseMs = 10_000;

/**
 * Reports appends by any process. The database notifies immediately over a dedicated connection. Polling finds the
 * events if it cannot: behind a transaction pooler, while the connection is broken, and periodically as a safeguard.
 * Each poll reads the events of transactions that were still open at the previous poll, so late commits are not
 * missed.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #listeners = new Set<WatchListener>();
  /** The last notified position of each session, least recently changed first. */
  readonly #reported = new Map<string, number>();
  #client: pg.Client | undefined;
  /** The first transaction that was still open at the last poll, or when the store was first used. */
  #since: string | undefined;
  #wantsLook = false;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isPooled = false;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** True if the database notifies; otherwise polling is needed. */
  get isListening(): boolean {
    return this.#client !== undefined;
  }

  /** Records the starting point. Called before reading: appends after it are reported to the current watchers. */
  async begin(connection: Connection): Promise<void> {
    this.#since ??= await firstOpen(connection);
  }

  add(listener: WatchListener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#begin();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#end();
    await this.#looking;
  }

  #begin(): void {
    this.#look();
    void this.#listen();
  }

  #end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => {});
  }

  get #isOn(): boolean {
    return !this.#isClosed && this.#listeners.size > 0;
  }

  async #listen(): Promise<void> {
    if (!this.#isOn || this.#isPooled) return;
    const { url, channel } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 3000,
      keepAlive: true,
      application_name: 'cobbler',
    });
    client.on('error', () => this.#handleLoss(client));
    client.on('end', () => this.#handleLoss(client));
    client.on('notification', ({ payload = '' }) => this.#handle(payload));
    try {
      await client.connect();
      if (!(await isDirect(client))) {
        // Notifications would not arrive: they go to the pooler.
        this.#isPooled = true;
        await client.end();
        return;
      }
      await client.query(`LISTEN ${channel}`);
    } catch {
      client.end().catch(() => {});
      return this.#listenLater();
    }
    if (!this.#isOn) return void client.end().catch(() => {});
    this.#failures = 0;
    this.#client = client;
    // Report what was appended before listening started.
    this.#look();
  }

  #handleLoss(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#look();
    this.#listenLater();
  }

  #listenLater(): void {
    if (!this.#isOn) return;
    clearTimeout(this.#retry);
    const pauseMs = backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, this.#failures);
    this.#failures += 1;
    this.#retry = setTimeout(() => void this.#listen(), pauseMs);
    this.#retry.unref();
  }

  #handle(payload: string): void {
    const [sessionId = '', seq = ''] = payload.split(' ');
    this.#tell(sessionId, Number(seq));
  }

  /** Polls now, and again after a delay. */
  #look(): void {
    if (!this.#isOn) return;
    this.#wantsLook = this.#looking !== undefined;
    if (this.#wantsLook) return;
    clearTimeout(this.#timer);
    this.#looking = this.#lookNow()
      // The next poll may succeed and finds the same events.
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
        if (this.#wantsLook || !this.#isOn) return this.#look();
        const { pollMs, slowPollMs } = this.#options;
        this.#timer = setTimeout(() => this.#look(), this.isListening ? slowPollMs : pollMs);
        this.#timer.unref();
      });
  }

  async #lookNow(): Promise<void> {
    const { db, schema } = this.#options;
    const next = await firstOpen(db);
    const rows = await db.query<{ id: string; seq: number }>(
      `SELECT t.id, max(e.seq) AS seq FROM ${schema}.events e JOIN ${schema}.sessions t ON t.key = e.session
       WHERE e.xact >= $1::xid8 GROUP BY t.id`,
      [this.#since ?? next],
    );
    for (const { id, seq } of rows) this.#tell(id, seq);
    this.#since = next;
  }

  #tell(sessionId: string, seq: number): void {
    if ((this.#reported.get(sessionId) ?? 0) >= seq) return;
    this.#reported.delete(sessionId);
    this.#reported.set(sessionId, seq);
    const [oldest] = this.#reported.keys();
    if (this.#reported.size > maxRemembered && oldest !== undefined) this.#reported.delete(oldest);
    for (const listener of [...this.#listeners]) {
      try {
        listener(sessionId, seq);
      } catch {
        // A listener that throws does not affect the others.
      }
    }
  }
}

/** Returns the first transaction that is still open. The changes of all earlier ones are visible. */
async function firstOpen(connection: Connection): Promise<string> {
  const [row] = await connection.query<{ xmin: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin',
  );
  return row?.xmin ?? '0';
}

/**
 * Returns true if the client is connected to the server itself. A pooler invents the process id used to cancel
 * requests; the server reports its own.
 */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const processId = (client as { readonly processID?: unknown }).processID;
  return typeof processId === 'number' && processId === rows[0]?.pid;
}
