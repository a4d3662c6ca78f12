import { AgentError } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { amount, text, when } from '@cobbler/agent/input';
import { backoff } from '@cobbler/agent/values';
import pg from 'pg';
import { isLost, storeError } from './store-error.ts';

/** Executes SQL statements. Statement texts are constants of the program; external values are bound as parameters. */
export interface Connection {
  /** Executes a statement. `Row` must match its result. 64-bit integers are returned as numbers. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface DatabaseOptions
  extends Required<Pick<PostgresOptions, 'url' | 'connections' | 'busyMs' | 'statementMs'>> {
  /** Brings the schema up to date. Called within a transaction before any other statement. */
  readonly prepare: (connection: Connection) => Promise<void>;
}

/** The database, and how processes share it: the options of the store, the runner and the budgets alike. */
export interface PostgresOptions {
  /** `postgres://user:password@host:5432/name` of the server, or of a pooler in transaction mode. */
  readonly url: string;
  /** Schema of the tables, created if missing; the same for the sessions, runs and budgets. Default `cobbler`. */
  readonly schema?: string;
  /** Time without a heartbeat after which a process counts as dead, in milliseconds. Default 15,000. */
  readonly leaseMs?: number;
  /** Maximum number of connections. Default 10 for a store, 5 for a runner, 2 for budgets. */
  readonly connections?: number;
  /**
   * Time limit for retries when the database is unreachable, in milliseconds. Default 4,000, which is less than a run
   * waits.
   */
  readonly busyMs?: number;
  /** Time limit for one statement, in milliseconds. Default 10,000. */
  readonly statementMs?: number;
}

/** The readers of {@link PostgresOptions}. */
export const databaseReaders: Readers<PostgresOptions> = {
  url: text,
  schema: text,
  leaseMs: amount,
  connections: when<number>(
    (value) => Number.isInteger(value) && Number(value) > 0,
    'a whole number of at least 1',
  ),
  busyMs: amount,
  statementMs: amount,
};

/** First and maximum delay between retries, in milliseconds. The delay doubles each time. */
const firstPauseMs = 25;
const maxPauseMs = 400;

/** Time limit for connecting, in milliseconds. */
const connectMs = 3000;

/**
 * A pool of database connections, opened when needed and replaced when they break. It uses no session state of the
 * database: no settings, no named prepared statements, and no locks beyond a transaction. So a pooler can run each
 * transaction on a different server connection.
 */
export class Database implements Connection {
  /** The address of the database without the credentials. */
  readonly place: string;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  #ready: Promise<void> | undefined;
  #isClosed = false;

  /** @throws AgentError `invalid`, code `store_address`. */
  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.place = locationOf(options.url);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.connections,
      connectionTimeoutMillis: connectMs,
      query_timeout: options.statementMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'cobbler',
      types: { getTypeParser },
    });
    // A broken idle connection is replaced when needed.
    this.#pool.on('error', () => {});
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Executes a statement that is safe to repeat. Retries until the database responds or the time limit expires. */
  query<Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.insistently(() => this.once<Row>(sql, values));
  }

  /** Executes a statement without retries. @throws the client's error: see {@link isLost}. */
  async once<Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    this.#checkOpen();
    await this.#prepareOnce();
    return (await this.#pool.query(sql, [...values])).rows as Row[];
  }

  /** Runs a transaction that is safe to repeat. */
  transaction<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> {
    return this.insistently(async () => {
      this.#checkOpen();
      await this.#prepareOnce();
      return await this.#transaction(work);
    });
  }

  /**
   * Retries while the connection is the cause of the failure.
   * @throws AgentError.
   */
  async insistently<Value>(work: (attempt: number) => Promise<Value>): Promise<Value> {
    const deadline = performance.now() + this.#options.busyMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work(attempt);
      } catch (thrown) {
        const pauseMs = backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, attempt - 1);
        if (!isLost(thrown) || this.#isClosed || performance.now() + pauseMs > deadline)
          throw storeError(thrown, this.place);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  #checkOpen(): void {
    if (!this.#isClosed) return;
    const message = `The store in ${this.place} has been closed.`;
    throw new AgentError({ kind: 'invalid', code: 'store_closed', message });
  }

  #prepareOnce(): Promise<void> {
    this.#ready ??= this.#transaction(this.#options.prepare).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #transaction<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect();
    let failure: unknown;
    // The current statement, or the next one, reports it as well.
    const onError = () => {};
    client.on('error', onError);
    try {
      await client.query('BEGIN');
      const value = await work({
        query: async <Row>(sql: string, values: readonly unknown[] = []) =>
          (await client.query(sql, [...values])).rows as Row[],
      });
      await client.query('COMMIT');
      return value;
    } catch (thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      // A failed connection is not reused: closing it also ends its transaction.
      client.off('error', onError);
      client.release(failure !== undefined);
    }
  }
}

/** Parses 64-bit integers as numbers: all of them are counts and epochs, well below the largest safe integer. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  const int8: number = pg.types.builtins.INT8;
  if (oid === int8) return Number;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

/**
 * Returns the address of the database without the credentials. @throws AgentError `invalid`, code `store_address`.
 */
export function locationOf(url: string): string {
  const isAddress = URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol);
  if (!isAddress) {
    const message = 'The database address is invalid. Use the form postgres://user:password@host:5432/name.';
    throw new AgentError({ kind: 'invalid', code: 'store_address', message });
  }
  const { protocol, host, pathname, searchParams } = new URL(url);
  const socket = searchParams.get('host');
  return `${protocol}//${host === '' ? (socket ?? '') : host}${pathname}`;
}
