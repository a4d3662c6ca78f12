import type { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../events/event.ts';
import type { State } from '../../events/state.ts';
import type { CostQuery, CostRow } from '../../store/costs.ts';
import { quartersOf } from '../../store/costs.ts';
import { readCostQuery } from '../../store/read-costs.ts';
import type { SessionInfo, ShareLevel } from '../../store/session-info.ts';
import type {
  ListOptions,
  Origin,
  Retention,
  SearchPage,
  SearchQuery,
  SessionPage,
  SessionStore,
  Writer,
} from '../../store/store.ts';
import { checkRetention, checkSessionId } from '../../store/store.ts';
import { readSearchQuery, readShareLevel } from '../../store/store-arguments.ts';
import { AgentError, withArgumentErrors } from '../../values/errors.ts';
import { amount, callable, read, record, text } from '../../values/input.ts';
import { CostTable } from './cost-table.ts';
import { storeError } from './database-error.ts';
import { fileWatch, openDatabase } from './database-file.ts';
import { scalar, sqlite } from './engine.ts';
import { GroupCommit } from './group-commit.ts';
import { Owner } from './owner.ts';
import { migrations, sessionFile } from './schema.ts';
import { SearchIndex } from './search/search-index.ts';
import { SessionLog } from './session-log.ts';
import { SessionTable } from './session-table.ts';
import { Snapshots } from './snapshots.ts';
import { Statements } from './statements.ts';
import type { OnWrite } from './write-moment.ts';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Maximum size of the file in bytes. Default: limited only by the disk. */
  readonly maxBytes?: number;
  /** Maximum time to wait for another process that is writing, in milliseconds. Default 4,000: less than a run waits. */
  readonly busyMs?: number;
  /** Returns the time of a change in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /** Called at each moment of each write, for tests that end the process there. */
  readonly onWrite?: OnWrite;
}

/**
 * Stores sessions in a file that several processes can use at the same time. A session with a running run is held by
 * the process that runs it, as long as that process is alive. Appended events survive the end of the process; durable
 * appends and everything before them also survive a power failure. A missing directory or file is created, accessible
 * only to its owner.
 * @throws AgentError that states the problem with the file and how to fix it: codes `store_missing`, `store_damaged`,
 * `store_newer`, `store_foreign`, `store_readonly`, `store_full`, `store_busy`, `store_unreachable`, `store_io`. Every
 * method rejects with the same codes.
 */
export function sqliteStore(file: string, options: SqliteStoreOptions = {}): SessionStore {
  return new SqliteStore(read(file, text, 'file'), read(options, storeFields));
}

const storeFields = record<SqliteStoreOptions>({
  maxBytes: amount,
  busyMs: amount,
  now: callable,
  onWrite: callable,
});

class SqliteStore implements SessionStore {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  readonly #onWrite: OnWrite;
  readonly #commit: GroupCommit;
  readonly #sql: Statements;
  readonly #log: SessionLog;
  readonly #search: SearchIndex;
  readonly #table: SessionTable;
  readonly #snapshots: Snapshots;
  readonly #costs: CostTable;
  readonly #checkFile: () => void;
  #owner: Owner | undefined;

  constructor(
    file: string,
    { maxBytes, busyMs = 4000, now = Date.now, onWrite = () => {} }: SqliteStoreOptions,
  ) {
    this.#file = file;
    this.#db = openDatabase(file, { maxBytes, onWrite, migrations, kind: sessionFile });
    this.#onWrite = onWrite;
    this.#now = now;
    this.#checkFile = fileWatch(file);
    const sql = new Statements(this.#db);
    this.#sql = sql;
    this.#search = new SearchIndex(sql);
    this.#log = new SessionLog(sql, file, this.#search);
    this.#table = new SessionTable(sql, this.#log, file);
    this.#snapshots = new Snapshots(sql);
    this.#costs = new CostTable(sql);
    this.#commit = new GroupCommit({
      db: this.#db,
      file,
      busyMs,
      onWrite,
      // Writes to a removed file seem to succeed but are lost.
      beforeDurable: this.#checkFile,
      onRollback: () => this.#log.forget(),
      onForeignWrite: () => this.#log.doubt(),
    });
  }

  claim(sessionId: string, origin: Origin = {}): Promise<number> {
    checkSessionId(sessionId);
    return this.#write(() => {
      this.#checkFile();
      return this.#table.claim(sessionId, origin, this.#own().row, this.#now());
    });
  }

  append(sessionId: string, events: readonly Event[], writer: Writer): Promise<void> | undefined {
    return withArgumentErrors('append', () => {
      const texts = events.map((event) => JSON.stringify(event));
      const isLast = writer.release === true || events.at(-1)?.type === 'finished';
      const run = () => {
        if (isLast) this.#checkFile();
        this.#log.append(sessionId, { events, texts }, writer, this.#now());
      };
      if (!this.#db.isOpen) throw closedError(this.#file);
      // If no other session shares the transaction, waiting costs more than it saves.
      if (this.#log.writers <= 1) return this.#commit.now(run, writer.durable);
      return this.#commit.add(run, writer.durable);
    });
  }

  async read(sessionId: string, afterSeq = 0, limit?: number): Promise<readonly Event[]> {
    const id = read(sessionId, text, 'sessionId');
    return this.#read(() => this.#log.read(id, afterSeq, limit ?? -1));
  }

  async sessions(): Promise<readonly string[]> {
    return this.#read(() => this.#table.ids());
  }

  async snapshot(sessionId: string): Promise<State | undefined> {
    try {
      return this.#read(() => this.#snapshots.read(sessionId));
    } catch {
      // The events contain the same data; reading them reports any problem with the store.
      return undefined;
    }
  }

  keepSnapshot(sessionId: string, state: State, given: Writer): void {
    withArgumentErrors('keepSnapshot', () => {
      const { epoch } = given;
      const { messages } = state;
      const texts = this.#snapshots.plan.due(state);
      if (texts === undefined) return;
      const failed = () => this.#snapshots.plan.failed(messages);
      // Without a snapshot, opening a session only takes longer, so errors are not reported.
      this.#write(() => this.#snapshots.write(sessionId, epoch, texts)).then(
        (kept) => kept || failed(),
        failed,
      );
    });
  }

  async list(options: ListOptions = {}): Promise<SessionPage> {
    return this.#read(() => this.#table.list(options));
  }

  async info(sessionId: string): Promise<SessionInfo | undefined> {
    const id = read(sessionId, text, 'sessionId');
    return this.#read(() => this.#table.info(id));
  }

  async rename(sessionId: string, title: string): Promise<boolean> {
    const id = read(sessionId, text, 'sessionId');
    const given = read(title, text, 'title');
    return this.#write(() => this.#table.rename(id, given));
  }

  async share(sessionId: string, user: string, may?: ShareLevel): Promise<boolean> {
    const id = read(sessionId, text, 'sessionId');
    const [name, level] = [read(user, text, 'user'), read(may, readShareLevel, 'may')];
    return this.#write(() => this.#table.share(id, name, level));
  }

  async delete(sessionId: string): Promise<boolean> {
    const id = read(sessionId, text, 'sessionId');
    return this.#write(() => this.#table.remove(id, this.#owner?.row.lock));
  }

  async prune(retention: Retention): Promise<readonly string[]> {
    read(retention, () => checkRetention(retention), 'retention');
    return await this.#write(() => this.#table.prune(retention, this.#now()));
  }

  async costs(query: CostQuery): Promise<readonly CostRow[]> {
    const given = read(query, readCostQuery, 'query');
    return this.#read(() => this.#costs.read(given));
  }

  async deleteCosts(before: number): Promise<number> {
    const [quarter] = quartersOf({ by: 'day', since: read(before, amount, 'before') });
    return await this.#write(() => this.#costs.deleteBefore(quarter));
  }

  async send(sessionId: string, message: string): Promise<boolean> {
    const [id, given] = [read(sessionId, text, 'sessionId'), read(message, text, 'message')];
    return await this.#write(() => this.#table.send(id, given, this.#owner?.row.lock));
  }

  async receive(sessionId: string): Promise<readonly string[]> {
    const id = read(sessionId, text, 'sessionId');
    if (!this.#read(() => this.#table.hasMail(id))) return [];
    return await this.#write(() => this.#table.receive(id, this.#owner?.row.lock));
  }

  version(): string {
    // The first part changes with the writes of other connections, the second with those of this one.
    const parts = ['PRAGMA data_version', 'SELECT total_changes()'];
    return this.#read(() => parts.map((sql) => scalar(this.#db, sql)).join('.'));
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const given = read(query, readSearchQuery, 'query');
    let isComplete = false;
    for (let step = 0; step < stepsPerSearch && !isComplete; step += 1)
      isComplete = await this.#write(() => this.#search.extend());
    return this.#read(() => this.#search.find(given, isComplete));
  }

  async vacuum(): Promise<number> {
    await this.#write(() => this.#table.removeEmpty());
    return this.#read(() => {
      const before = this.#bytes();
      this.#db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
      return Math.max(0, before - this.#bytes());
    });
  }

  async probe(): Promise<void> {
    await this.#write(() => probeWrite(this.#sql), true);
    this.#read(() => probeRead(this.#file));
  }

  async close(): Promise<void> {
    if (!this.#db.isOpen) return;
    const owner = this.#owner;
    // Pending writes complete first. Their failures have already been reported to their callers.
    await this.#write(() => owner && this.#table.release(owner.row.lock)).catch(() => undefined);
    if (!this.#db.isOpen) return;
    // The last connection to close moves the content of the log to the file.
    this.#onWrite('begin');
    this.#db.close();
    owner?.close();
    this.#onWrite('done');
  }

  /** Returns the owner that represents this process, created by its first claim. Must be called in a transaction. */
  #own(): Owner {
    if (this.#owner === undefined) {
      this.#onWrite('begin');
      this.#owner = Owner.begin(this.#file);
      this.#table.sweep(this.#owner.row.lock);
      this.#onWrite('done');
    }
    return this.#owner;
  }

  #bytes(): number {
    return Number(scalar(this.#db, 'PRAGMA page_count')) * Number(scalar(this.#db, 'PRAGMA page_size'));
  }

  #read<Value>(read: () => Value): Value {
    if (!this.#db.isOpen) throw closedError(this.#file);
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.#file);
    }
  }

  #write<Value>(run: () => Value, durable?: boolean): Promise<Value> {
    return this.#db.isOpen ? this.#commit.add(run, durable) : Promise.reject(closedError(this.#file));
  }
}

/** Maximum number of transactions in which one search extends the index. */
const stepsPerSearch = 10;

function closedError(file: string): AgentError {
  const message = `The store ${file} has been closed.`;
  return new AgentError({ kind: 'invalid', code: 'store_closed', message });
}

/** Number of bytes that a probe writes: about as much as a short run. */
const probeBytes = 16_384;

/**
 * Writes the same kinds of rows as a prompt and rolls them back, then writes a row that remains. Must be called in a
 * transaction.
 * @throws SQLite's error
 */
function probeWrite(sql: Statements): void {
  sql.run('SAVEPOINT probe');
  // No session has this id, because an id starts with a letter or digit.
  const session = sql.insert("INSERT INTO sessions (id, epoch, created) VALUES ('-probe', 0, 0)");
  const segment = sql.insert('INSERT INTO segments (session, first) VALUES (?, 1)', session);
  sql.run('INSERT INTO events (segment, seq, json) VALUES (?, 1, hex(zeroblob(?)))', segment, probeBytes / 2);
  sql.run('ROLLBACK TO probe');
  sql.run('RELEASE probe');
  // Rolled-back rows never reach the disk; this row does.
  sql.run('INSERT OR REPLACE INTO probe VALUES (1, zeroblob(?))', probeBytes);
}

/** Reads the last page of every table that a prompt uses, from the file and not from memory. @throws SQLite's error */
function probeRead(file: string): void {
  const db = new (sqlite().DatabaseSync)(file, { readOnly: true });
  try {
    db.prepare(selectEnds).get();
  } finally {
    db.close();
  }
}

const selectEnds = `
  SELECT (SELECT max(key) FROM sessions), (SELECT max(id) FROM sessions), (SELECT max(session) FROM tallies),
    (SELECT max(segment) FROM segments), (SELECT max(session) FROM segments), (SELECT max(place) FROM events),
    (SELECT max(segment) FROM places), (SELECT sum(value) FROM counters), (SELECT count(*) FROM owners),
    (SELECT max(quarter) FROM spending), (SELECT max(payer) FROM payers)`;
