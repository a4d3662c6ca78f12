import type { DatabaseSync } from 'node:sqlite';
import { AgentError } from '../../values/errors.ts';
import { scalar } from './engine.ts';

/** What tells our kinds of database files from each other and from those of other programs. */
export interface FileKind {
  readonly applicationId: number;
  /** In words, for messages. */
  readonly contents: string;
}

/** "Cobb" in ASCII. */
export const sessionFile: FileKind = { applicationId: 0x436f6262, contents: 'sessions' };

/**
 * What makes one version of the schema of the one before; the first makes it of nothing. A version that was
 * released is never changed: what has to be different comes as the next one.
 *
 * Events lie in the order in which they were committed, so that what many sessions append at once is written side
 * by side. They are found by segment and place: a segment is up to 64 events of one session, and segments are
 * numbered as they begin, so that those of sessions active at the same time lie side by side too. Found by session
 * and place, each session would have a page of its own to write at every commit, which cost twice the time. The
 * latest events of all are found by looking at each of them: where they lie is noted for many at once, because
 * another page to write at every commit cost half as much again.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counters VALUES ('epoch', 0);

  CREATE TABLE owners (
    lock TEXT PRIMARY KEY,    -- name of the file that the process keeps locked
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    since INTEGER NOT NULL    -- milliseconds since 1970, as all times
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,   -- of the one writer that may write
    owner TEXT,               -- lock of the process whose run is under way
    created INTEGER NOT NULL,
    updated INTEGER,          -- when a run last began or ended; nothing before there is an event
    title TEXT,
    parent TEXT,
    parent_seq INTEGER
  ) STRICT;

  CREATE TABLE tallies (
    session INTEGER PRIMARY KEY,
    tally TEXT NOT NULL       -- JSON; counts the events up to the one it says, the rest have to be added
  ) STRICT;

  CREATE TABLE segments (
    segment INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    first INTEGER NOT NULL,   -- seq of its first event
    UNIQUE (session, first)
  ) STRICT;

  CREATE TABLE events (
    place INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL
  ) STRICT;

  CREATE TABLE places (
    segment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,   -- of an event; those above the counter 'noted' are not here yet
    PRIMARY KEY (segment, seq)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counters VALUES ('noted', 0);

  CREATE TABLE snapshots (
    session INTEGER PRIMARY KEY,
    fold INTEGER NOT NULL,    -- version of the fold
    seq INTEGER NOT NULL,     -- of the last event folded
    messages INTEGER NOT NULL,
    state TEXT NOT NULL       -- JSON, without the messages
  ) STRICT;

  CREATE TABLE snapshot_messages (
    session INTEGER NOT NULL,
    first INTEGER NOT NULL,   -- index of the first message
    messages TEXT NOT NULL,   -- JSON array
    PRIMARY KEY (session, first)
  ) STRICT, WITHOUT ROWID;
  `,
  // Checksums, see checksum.ts; none in a row that version 1 wrote. That of a session covers what never changes and
  // its title.
  `
  ALTER TABLE events ADD COLUMN sum INTEGER;
  ALTER TABLE tallies ADD COLUMN sum INTEGER;
  ALTER TABLE sessions ADD COLUMN sum INTEGER;
  ALTER TABLE snapshots ADD COLUMN sum INTEGER;
  ALTER TABLE snapshot_messages ADD COLUMN sum INTEGER;

  CREATE TABLE probe (
    number INTEGER PRIMARY KEY,   -- 1: there is one row
    filler BLOB NOT NULL
  ) STRICT;
  `,
];

/** The version that a database has; 0 for one that is empty. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(scalar(db, 'PRAGMA user_version'));
}

/** Brings a database up to date, all or nothing. @throws AgentError as {@link checkSchema} does. */
export function migrate(
  db: DatabaseSync,
  file: string,
  steps: readonly string[] = migrations,
  kind: FileKind = sessionFile,
): void {
  if (schemaVersion(db) === steps.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have done it meanwhile.
    checkSchema(db, file, steps.length, kind);
    for (const step of steps.slice(schemaVersion(db))) db.exec(step);
    db.exec(`PRAGMA user_version = ${steps.length}; PRAGMA application_id = ${kind.applicationId}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** @throws AgentError `invalid`, code `store_newer` or `store_foreign`. Changes nothing. */
export function checkSchema(
  db: DatabaseSync,
  file: string,
  known: number = migrations.length,
  { applicationId, contents }: FileKind = sessionFile,
): void {
  const version = schemaVersion(db);
  const isOurs = Number(scalar(db, 'PRAGMA application_id')) === applicationId;
  const isEmpty = version === 0 && Number(scalar(db, 'SELECT count(*) FROM sqlite_schema')) === 0;
  if (!isOurs && !isEmpty) {
    const message = `${file} is a database of another program; choose another file for the ${contents}.`;
    throw new AgentError({ kind: 'invalid', code: 'store_foreign', message });
  }
  if (version > known) {
    const message = `${file} was written by a newer version of Cobbler (format ${version}; this one knows formats up to ${known}). Update Cobbler, or use another file.`;
    throw new AgentError({ kind: 'invalid', code: 'store_newer', message });
  }
}
