ALTER TABLE outbox ADD COLUMN doubts INTEGER NOT NULL DEFAULT 0;

UPDATE outbox SET doubts = 1 WHERE state = 'maybe_sent';

ALTER TABLE outbox ADD COLUMN reply_to TEXT;

ALTER TABLE outbox ADD COLUMN answer TEXT;

CREATE TABLE answers (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL,
  markdown TEXT NOT NULL,
  reply_to TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX answers_of_chat ON answers (chat_id);
