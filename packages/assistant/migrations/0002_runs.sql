CREATE TABLE runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of starts
  id TEXT NOT NULL UNIQUE,
  key TEXT, -- runs with the same key execute in order
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  epoch INTEGER NOT NULL, -- of the current owner
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_of_key ON runs (key, seq);

CREATE INDEX runs_by_state ON runs (state, updated_at);

CREATE TABLE run_values (
  run_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('input', 'signal', 'result', 'output')),
  name TEXT NOT NULL, -- of the signal or the step
  text TEXT, -- JSON; null for a signal that the run no longer waits for
  PRIMARY KEY (run_id, kind, name)
) STRICT;
