import { closeSync, existsSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../values/errors.ts';
import { isBusy, storeError } from './database-error.ts';
import { scalar, sqlite } from './engine.ts';
import type { FileKind } from './schema.ts';
import { checkSchema, migrate, migrations, schemaVersion, sessionFile } from './schema.ts';
import type { OnWrite } from './write-moment.ts';

/** How long opening waits for other processes that open or write, in milliseconds. The process stands still then. */
const openingMs = 5000;

/** How long one statement does so later; who writes tries again without standing still. */
const statementMs = 20;

/** Pages of the write-ahead log after which what is in it is moved to the file: 4 MiB. */
const checkpointPages = 1000;

/** What the write-ahead log is cut back to, in bytes, once it has grown beyond. */
const maxWal = 64 * 1024 * 1024;

/** How a database file is opened. */
export interface OpenOptions {
  readonly maxBytes: number | undefined;
  readonly onWrite: OnWrite;
  /** Default: those of sessions. Every schema has a table `counters` with a row `epoch`. */
  readonly migrations?: readonly string[];
  readonly kind?: FileKind;
}

/**
 * Opens the database of a store, makes it when there is none, and brings its schema up to date. Only the owner may
 * read what is made: a conversation may hold anything.
 * @throws AgentError that says what is wrong with the file and what to do.
 */
export function openDatabase(file: string, options: OpenOptions): DatabaseSync {
  const { maxBytes, onWrite, migrations: steps = migrations, kind = sessionFile } = options;
  let db: DatabaseSync | undefined;
  try {
    checkNotLost(file, kind);
    onWrite('begin');
    makeFile(file);
    onWrite('done');
    db = new (sqlite().DatabaseSync)(file, { timeout: openingMs });
    // Read as of one moment: another process may be making the schema just now.
    db.exec('BEGIN');
    checkSchema(db, file, steps.length, kind);
    const isNew = schemaVersion(db) === 0;
    db.exec('COMMIT');
    useWal(db, file, kind);
    onWrite('begin');
    migrate(db, file, steps, kind);
    onWrite('done');
    // Until this is done the file itself may be empty, and all there is stands in the log beside it.
    if (isNew) db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    // Nothing else tells before the first event whether it can be written.
    db.exec("BEGIN IMMEDIATE; UPDATE counters SET value = value WHERE name = 'epoch'; ROLLBACK");
    configure(db, maxBytes);
    onWrite('begin');
    mark(file, kind);
    onWrite('done');
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error, file, kind.contents);
  }
}

function useWal(db: DatabaseSync, file: string, { contents }: FileKind): void {
  if (journalMode(db) === 'wal') return;
  const message = `${file} lies on a file system that ${contents} cannot be kept on, such as a network drive; choose another place.`;
  throw new AgentError({ kind: 'invalid', code: 'store_unreachable', message });
}

/** SQLite waits for others before every statement but this one. */
function journalMode(db: DatabaseSync): unknown {
  const deadline = performance.now() + openingMs;
  for (;;) {
    try {
      return scalar(db, 'PRAGMA journal_mode = WAL');
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function configure(db: DatabaseSync, maxBytes: number | undefined): void {
  db.exec(`
    PRAGMA busy_timeout = ${statementMs};
    PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA journal_size_limit = ${maxWal};
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
  `);
  if (maxBytes === undefined) return;
  const pages = Math.max(1, Math.floor(maxBytes / Number(scalar(db, 'PRAGMA page_size'))));
  db.exec(`PRAGMA max_page_count = ${pages}`);
}

/** Folder and file, for the owner alone. SQLite gives the files beside it the rights of this one. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // One that is there must not be opened here: closing it would give up the locks that SQLite has on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** SQLite takes an empty or missing file for a new database; this file tells the difference. */
function markOf(file: string): string {
  return `${file}-made`;
}

function mark(file: string, { contents }: FileKind): void {
  const text = `The ${contents} in the file beside this one were created on ${new Date().toISOString()}.
If that file is gone or empty, ${contents} were lost. Remove this file to begin anew.
`;
  try {
    writeFileSync(markOf(file), text, { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or cannot be made: then the next process that opens the store tries again.
  }
}

function checkNotLost(file: string, { contents }: FileKind): void {
  if (!existsSync(markOf(file)) || sizeOf(file) > 0) return;
  const message = `${file} is ${existsSync(file) ? 'empty' : 'gone'}, but ${contents} were kept in it. Put a backup in its place, or remove ${markOf(file)} to begin anew.`;
  throw new AgentError({ kind: 'invalid', code: 'store_missing', message });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Notices when the file is no longer the one that was opened: what is written then goes nowhere.
 * @throws AgentError `invalid`, code `store_missing`.
 */
export function fileWatch(file: string): () => void {
  const { dev, ino } = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.dev === dev && now.ino === ino) return;
    const message = `${file} was moved, removed or replaced while it was open. Put it back, or start this program again.`;
    throw new AgentError({ kind: 'invalid', code: 'store_missing', message });
  };
}
