import type { FileKind } from '../sqlite/schema.ts';

/** "CobR" in ASCII. */
export const runFile: FileKind = { applicationId: 0x436f6252, contents: 'runs' };

/** As for sessions: a version that was released is never changed, what has to be different comes as the next. */
export const runMigrations: readonly string[] = [
  `
  CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counters VALUES ('epoch', 0);

  CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order in which they were started
    id TEXT NOT NULL UNIQUE,
    queue TEXT,                -- runs of one queue are worked off one after another
    version TEXT NOT NULL,     -- of the routine
    state TEXT NOT NULL,       -- open, done, failed, cancelled
    input TEXT,                -- JSON; goes when the run is over
    outcome TEXT,              -- JSON of the output or of the error
    owner TEXT,                -- lock of the process that works on it
    epoch INTEGER NOT NULL,    -- of the one owner that may write
    ended INTEGER              -- milliseconds since 1970
  ) STRICT;
  CREATE INDEX open_queues ON runs (queue, number) WHERE state = 'open';
  CREATE INDEX open_owners ON runs (owner, number) WHERE state = 'open';
  CREATE INDEX ended_runs ON runs (ended) WHERE state <> 'open';

  CREATE TABLE steps (
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,        -- value, error, sleep, wait
    text TEXT,                 -- JSON of a value or of an error
    at INTEGER                 -- when a sleep or a wait is over, milliseconds since 1970
  ) STRICT;
  CREATE UNIQUE INDEX step_names ON steps (run, name);

  CREATE TABLE signals (
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT                  -- JSON; nothing when waiting was given up before it came
  ) STRICT;
  CREATE UNIQUE INDEX signal_names ON signals (run, name);
  `,
];
