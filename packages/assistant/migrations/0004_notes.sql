CREATE TABLE notes (
  key TEXT PRIMARY KEY, -- of a run and a name in it
  chat_id TEXT NOT NULL,
  value TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX notes_of_chat ON notes (chat_id);

CREATE INDEX notes_by_age ON notes (created_at);

ALTER TABLE runs ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
