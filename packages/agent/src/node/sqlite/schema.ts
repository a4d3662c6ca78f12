import type { DatabaseSync } from 'node:sqlite';
import { addStoredCosts } from './cost-table.ts';
import type { FileKind, Migration } from './database-file.ts';

/** "Cobb" in ASCII. */
export const sessionFile: FileKind = { applicationId: 0x436f6262, contents: 'sessions' };

/**
 * The migrations, each from the previous schema version; the first starts with an empty database. A released migration
 * never changes; a change to the schema is a new migration.
 *
 * Events are stored in commit order, so that events that many sessions append at the same time are written to adjacent
 * pages. They are found by segment and place: a segment contains up to 64 events of one session, and segments are
 * numbered in the order in which they start, so segments of sessions active at the same time are adjacent too. With an
 * index by session and place, every commit would write a separate page per session, which took twice as long. To find
 * the latest events, all of them are scanned: their places are indexed in batches, because writing another page at
 * every commit took half as long again.
 */
export const migrations: readonly Migration[] = [
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
  // Checksums, see checksum.ts; null in rows written by version 1. The checksum of a session covers its immutable
  // columns and its title.
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
  // The costs of all sessions, see cost-table.ts. A row is the sum of one quarter of an hour, so that a million requests
  // are few rows, and in the order of time, so that the sessions that are active at the same time write to one page.
  // Rows outlive their session.
  addCostTables,
  // Costs by user and tool.
  addPayerNames,
  // The users with whom a session is shared, in JSON after its checksum; null for none.
  'ALTER TABLE sessions ADD COLUMN shares TEXT',
  // The messages to runs, each to the run that holds the session with this epoch.
  `
  CREATE TABLE mail (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  `,
];

const payers = `
  CREATE TABLE payers (
    payer INTEGER PRIMARY KEY,
    session TEXT NOT NULL,    -- id
    kind TEXT NOT NULL,
    model TEXT NOT NULL,      -- empty if the events do not name it, like the next two
    user TEXT NOT NULL,
    tool TEXT NOT NULL,
    UNIQUE (session, kind, model, user, tool)
  ) STRICT;`;

function addCostTables(db: DatabaseSync): void {
  db.exec(`
  ${payers}

  CREATE TABLE spending (
    quarter INTEGER NOT NULL, -- of an hour, since 1970
    payer INTEGER NOT NULL,
    requests REAL NOT NULL,
    unpriced REAL NOT NULL,   -- requests whose price is unknown
    usd REAL NOT NULL,        -- of the others
    inputTokens REAL NOT NULL,
    outputTokens REAL NOT NULL,
    cacheReadTokens REAL NOT NULL,
    cacheWriteTokens REAL NOT NULL,
    reasoningTokens REAL NOT NULL,
    wastedTokens REAL NOT NULL,
    PRIMARY KEY (quarter, payer)
  ) STRICT, WITHOUT ROWID;
  `);
  addStoredCosts(db);
}

/** The names are missing in a database that an earlier release has brought to version 3. */
function addPayerNames(db: DatabaseSync): void {
  if (db.prepare("SELECT 1 FROM pragma_table_info('payers') WHERE name = 'user'").get() !== undefined) return;
  db.exec(`
  ALTER TABLE payers RENAME TO old_payers;
  ${payers}
  INSERT INTO payers SELECT payer, session, kind, model, '', '' FROM old_payers;
  DROP TABLE old_payers;
  `);
}
