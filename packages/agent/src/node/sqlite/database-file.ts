import { closeSync, existsSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../values/errors.ts';
import { amount, callable, listOf, read, record, text, when } from '../../values/input.ts';
import { isBusy, storeError } from './database-error.ts';
import { scalar, sqlite } from './engine.ts';
import type { OnWrite } from './write-moment.ts';

/** Maximum time that opening waits for other processes to open or write the file, in milliseconds. It blocks the process. */
const openingMs = 5000;

/** Maximum time that one statement blocks after opening, in milliseconds; writers then retry without blocking. */
const statementMs = 20;

/** Number of pages in the write-ahead log after which its content is moved to the file: 4 MiB. */
const checkpointPages = 1000;

/** Size in bytes to which a larger write-ahead log is truncated. */
const maxWal = 64 * 1024 * 1024;

/** Identifies a kind of Cobbler database file. */
export interface FileKind {
  readonly applicationId: number;
  /** Content of the file, for messages. */
  readonly contents: string;
}

/** A step from one schema version to the next: SQL, or a function that runs in the same transaction. */
export type Migration = string | ((db: DatabaseSync) => void);

/** Options of {@link openDatabase}. */
export interface OpenOptions {
  readonly maxBytes: number | undefined;
  readonly onWrite: OnWrite;
  /** Every schema has a table `counters` with a row `epoch`. */
  readonly migrations: readonly Migration[];
  readonly kind: FileKind;
}

const migration = when<Migration>(
  (value) => typeof value === 'string' || typeof value === 'function',
  'SQL or a function',
);

const openOptions = record<OpenOptions>(
  {
    maxBytes: amount,
    onWrite: callable,
    migrations: listOf(migration),
    kind: record<FileKind>({ applicationId: amount, contents: text }, ['applicationId', 'contents']),
  },
  ['onWrite', 'migrations', 'kind'],
);

/**
 * Opens the database of a store, creates it if it does not exist, and migrates its schema. Created files are accessible
 * only to their owner, because a conversation can contain anything.
 * @throws AgentError that states the problem with the file and how to fix it.
 */
export function openDatabase(file: string, options: OpenOptions): DatabaseSync {
  const { maxBytes, onWrite, migrations: steps, kind } = read(options, openOptions);
  read(file, text, 'file');
  let db: DatabaseSync | undefined;
  try {
    checkNotLost(file, kind);
    onWrite('begin');
    makeFile(file);
    onWrite('done');
    const opened = new (sqlite().DatabaseSync)(file, { timeout: 0 });
    db = opened;
    const inTurn = untilFree(opened);
    const isNew = inTurn(() => isNewDatabase(opened, file, { steps, kind }));
    inTurn(() => useWal(opened, file, kind));
    onWrite('begin');
    inTurn(() => migrate(opened, file, steps, kind));
    onWrite('done');
    // Before this checkpoint, the file itself may be empty and all data may be in the log.
    if (isNew) db.exec(`PRAGMA busy_timeout = ${openingMs}; PRAGMA wal_checkpoint(TRUNCATE)`);
    // Check write access now instead of at the first event.
    inTurn(() =>
      opened.exec("BEGIN IMMEDIATE; UPDATE counters SET value = value WHERE name = 'epoch'; ROLLBACK"),
    );
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

/**
 * Returns a function that repeats a step of opening while another process holds the file. The attempts follow each
 * other closely: SQLite waits up to 100 ms between two, so a process that writes all the time could keep this one out
 * for seconds. All steps share one deadline.
 */
function untilFree(db: DatabaseSync): <Value>(step: () => Value) => Value {
  const deadline = performance.now() + openingMs;
  return (step) => {
    for (;;) {
      try {
        return step();
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        if (!isBusy(error) || performance.now() >= deadline) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  };
}

/** Checks the schema. Reads in one transaction, because another process may be creating the schema. */
function isNewDatabase(
  db: DatabaseSync,
  file: string,
  { steps, kind }: { readonly steps: readonly Migration[]; readonly kind: FileKind },
): boolean {
  db.exec('BEGIN');
  checkSchema(db, file, steps.length, kind);
  const isNew = schemaVersion(db) === 0;
  db.exec('COMMIT');
  return isNew;
}

function useWal(db: DatabaseSync, file: string, { contents }: FileKind): void {
  if (scalar(db, 'PRAGMA journal_mode = WAL') === 'wal') return;
  const message = `${file} is on a file system, such as a network drive, that cannot store ${contents}; choose another location.`;
  throw new AgentError({ kind: 'invalid', code: 'store_unreachable', message });
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

/** Creates the directory and the file, accessible only to their owner. SQLite gives its other files the same permissions. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Do not open an existing file here: closing it would release SQLite's locks on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns the path of the marker that tells a lost database from a new one: to SQLite, an empty or missing file is new. */
function markOf(file: string): string {
  return `${file}-made`;
}

function mark(file: string, { contents }: FileKind): void {
  const text = `The ${contents} in the file next to this one were created on ${new Date().toISOString()}.
If that file is gone or empty, ${contents} were lost. Remove this file to start again.
`;
  try {
    writeFileSync(markOf(file), text, { flag: 'wx', mode: 0o600 });
  } catch {
    // The file exists or cannot be created. In the second case the next process that opens the store tries again.
  }
}

function checkNotLost(file: string, { contents }: FileKind): void {
  if (!existsSync(markOf(file)) || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const message = `${file} is ${existsSync(file) ? 'empty' : 'missing'}, but it previously contained ${contents}. Restore a backup, or remove ${markOf(file)} to start again.`;
  throw new AgentError({ kind: 'invalid', code: 'store_missing', message });
}

/**
 * Returns a function that checks that the file is still the one that was opened; writes to a replaced file are lost.
 * @throws AgentError `invalid`, code `store_missing`, from the returned function.
 */
export function fileWatch(file: string): () => void {
  const { dev, ino } = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.dev === dev && now.ino === ino) return;
    const message = `${file} was moved, removed or replaced while it was open. Put it back, or restart this program.`;
    throw new AgentError({ kind: 'invalid', code: 'store_missing', message });
  };
}

/** Returns the schema version of a database; 0 if it is empty. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(scalar(db, 'PRAGMA user_version'));
}

/** Migrates a database in one transaction. @throws AgentError with the codes of {@link checkSchema}. */
export function migrate(db: DatabaseSync, file: string, steps: readonly Migration[], kind: FileKind): void {
  if (schemaVersion(db) === steps.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated it in the meantime.
    checkSchema(db, file, steps.length, kind);
    for (const step of steps.slice(schemaVersion(db)))
      if (typeof step === 'string') db.exec(step);
      else step(db);
    db.exec(`PRAGMA user_version = ${steps.length}; PRAGMA application_id = ${kind.applicationId}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Checks that a database is a known version of this kind of file. Changes nothing.
 * @throws AgentError `invalid`, code `store_newer` or `store_foreign`.
 */
function checkSchema(
  db: DatabaseSync,
  file: string,
  known: number,
  { applicationId, contents }: FileKind,
): void {
  const version = schemaVersion(db);
  const isOurs = Number(scalar(db, 'PRAGMA application_id')) === applicationId;
  const isEmpty = version === 0 && Number(scalar(db, 'SELECT count(*) FROM sqlite_schema')) === 0;
  if (!isOurs && !isEmpty) {
    const message = `${file} belongs to another program; choose another file for the ${contents}.`;
    throw new AgentError({ kind: 'invalid', code: 'store_foreign', message });
  }
  if (version > known) {
    const message = `${file} was written by a newer version of Cobbler (format ${version}; this version supports formats up to ${known}). Update Cobbler, or use another file.`;
    throw new AgentError({ kind: 'invalid', code: 'store_newer', message });
  }
}
