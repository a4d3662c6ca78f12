import { AgentError } from '@cobbler/agent';
import { backoff } from '@cobbler/agent/values';
import pg from 'pg';
import { isLost, storeError } from './store-error.ts';

/** Something that answers statements. Texts are constants of the program; what comes from outside is bound to them. */
export interface Connection {
  /** `Row` has to say what the statement gives. Numbers of 64 bits come as numbers. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly connections: number;
  /** Time limit for retries when the database is unreachable, in milliseconds. */
  readonly busyMs: number;
  /** Time limit for one statement, in milliseconds. */
  readonly statementMs: number;
  /** Brings the schema up to date; called within a transaction before anything else is done. */
  readonly prepare: (connection: Connection) => Promise<void>;
}

/** Delays between retries, in milliseconds: doubles up to the last. */
const firstPauseMs = 25;
const maxPauseMs = 400;

/** For how long a connection may be made, in milliseconds. */
const connectMs = 3000;

/**
 * Connections to a database, made when they are needed and again when they break. Nothing of a session of the database
 * is used: no settings, no prepared statements with names, no locks but a transaction's. So a pooler may hand every
 * transaction to another server connection.
 */
export class Database implements Connection {
  /** Where it is, without who connects. */
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
    // An idle connection that breaks is replaced when needed.
    this.#pool.on('error', () => {});
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** For statements that may be done twice: tried until the database answers or the time is over. */
  query<Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.insistently(() => this.once<Row>(sql, values));
  }

  /** One try. @throws the client's error: see {@link isLost}. */
  async once<Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    this.#checkOpen();
    await this.#prepared();
    return (await this.#pool.query(sql, [...values])).rows as Row[];
  }

  /** For work that may be done twice, all or nothing. */
  transaction<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> {
    return this.insistently(async () => {
      this.#checkOpen();
      await this.#prepared();
      return await this.#transaction(work);
    });
  }

  /** Retries while the connection is the cause of the failure.⏎@throws AgentError. */
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

  #prepared(): Promise<void> {
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

/** Numbers of 64 bits are counts and epochs here: none comes near what a number can hold. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  const int8: number = pg.types.builtins.INT8;
  if (oid === int8) return Number;
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
}

/** The database's address without who connects. @throws AgentError `invalid`, code `store_address`. */
export function locationOf(url: string): string {
  const isAddress = URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol);
  if (!isAddress) {
    const message = 'A database address looks like postgres://user:password@host:5432/name.';
    throw new AgentError({ kind: 'invalid', code: 'store_address', message });
  }
  const { protocol, host, pathname, searchParams } = new URL(url);
  const socket = searchParams.get('host');
  return `${protocol}//${host === '' ? (socket ?? '') : host}${pathname}`;
}
