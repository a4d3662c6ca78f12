import { budgetSchema } from '@cobbler/agent/budgets';

/** The migration from one version of the schema to the next. */
export interface Migration {
  /** The name of its file in `migrations/`, by which D1 tracks applied migrations. */
  readonly name: string;
  /** Statements in SQLite's dialect, without PRAGMA, which D1 does not support. */
  readonly statements: readonly string[];
}

/**
 * The tables of an assistant, for local files and D1. A released migration never changes: add a new one instead. Data
 * that can be rebuilt from these tables, such as a memory index, is not here; its owner creates it. Times are in
 * milliseconds since 1970 unless noted.
 *
 * Marks refer to rows by id, because SQLite can change row numbers when a file is compacted or moved, but not the
 * order of rows.
 */
export const migrations: readonly Migration[] = [
  {
    name: '0001_assistant',
    statements: [
      `CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  created_at TEXT NOT NULL -- ISO 8601
) STRICT`,
      'CREATE INDEX messages_of_chat ON messages (chat_id)',
      `CREATE TABLE message_marks (
  chat_id TEXT PRIMARY KEY,
  fresh_after TEXT, -- the last message before the latest fresh start
  summarised_to TEXT -- the last summarized message
) STRICT, WITHOUT ROWID`,
      `CREATE TABLE chats (
  chat_id TEXT PRIMARY KEY,
  time_zone TEXT,
  run_id TEXT -- of the active turn
) STRICT, WITHOUT ROWID`,
      `CREATE TABLE arrivals (
  user_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT`,
      'CREATE INDEX arrivals_of_user ON arrivals (user_id, at)',
      `CREATE TABLE turn_limits (
  user_id TEXT PRIMARY KEY,
  refused INTEGER NOT NULL -- number of consecutive refusals
) STRICT, WITHOUT ROWID`,
      `CREATE TABLE outbox (
  key TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL,
  piece TEXT NOT NULL, -- JSON
  state TEXT NOT NULL CHECK (state IN ('planned', 'sending', 'sent', 'maybe_sent', 'given_up')),
  owner TEXT, -- the call that is sending it, or sent it last
  attempts INTEGER NOT NULL,
  next_try_at INTEGER,
  message_id TEXT,
  error TEXT, -- JSON
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT`,
      'CREATE INDEX outbox_of_chat ON outbox (chat_id)',
      'CREATE INDEX outbox_by_state ON outbox (state)',
      `CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
      "INSERT INTO counters (name, value) VALUES ('epoch', 0)",
      `CREATE TABLE sessions (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL, -- of the current writer
  last_seq INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT`,
      `CREATE TABLE events (
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID`,
      `CREATE TABLE memories (
  key INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a memory may be deleted while it is embedded
  chat_id TEXT NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at TEXT NOT NULL, -- ISO 8601
  embedder TEXT, -- of its vector in the index; null without a vector
  UNIQUE (chat_id, id)
) STRICT`,
      'CREATE INDEX memories_by_embedder ON memories (chat_id, embedder)',
      `CREATE TABLE fresh_vectors (
  key INTEGER PRIMARY KEY, -- of a memory whose vector was sent to the index, but is not in its results yet
  embedder TEXT NOT NULL,
  vector BLOB NOT NULL, -- 32-bit little-endian floats
  given_at INTEGER NOT NULL
) STRICT`,
    ],
  },
  {
    name: '0002_runs',
    statements: [
      `CREATE TABLE runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of starts
  id TEXT NOT NULL UNIQUE,
  key TEXT, -- runs with the same key execute in order
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  epoch INTEGER NOT NULL, -- of the current owner
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT`,
      'CREATE INDEX runs_of_key ON runs (key, seq)',
      'CREATE INDEX runs_by_state ON runs (state, updated_at)',
      `CREATE TABLE run_values (
  run_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('input', 'signal', 'result', 'output')),
  name TEXT NOT NULL, -- of the signal or the step
  text TEXT, -- JSON; null for a signal that the run no longer waits for
  PRIMARY KEY (run_id, kind, name)
) STRICT`,
    ],
  },
  {
    name: '0003_answers',
    statements: [
      'ALTER TABLE outbox ADD COLUMN doubts INTEGER NOT NULL DEFAULT 0', // attempts that may have arrived
      "UPDATE outbox SET doubts = 1 WHERE state = 'maybe_sent'",
      'ALTER TABLE outbox ADD COLUMN reply_to TEXT', // the channel's id of the message that the part replies to
      'ALTER TABLE outbox ADD COLUMN answer TEXT', // the id of the answer that contains the part
      `CREATE TABLE answers (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL,
  markdown TEXT NOT NULL,
  reply_to TEXT,
  created_at INTEGER NOT NULL
) STRICT`,
      'CREATE INDEX answers_of_chat ON answers (chat_id)',
    ],
  },
  {
    name: '0004_notes',
    statements: [
      `CREATE TABLE notes (
  key TEXT PRIMARY KEY, -- of a run and a name in it
  chat_id TEXT NOT NULL,
  value TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
      'CREATE INDEX notes_of_chat ON notes (chat_id)',
      'CREATE INDEX notes_by_age ON notes (created_at)',
      'ALTER TABLE runs ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0',
    ],
  },
  {
    // Budgets in D1. On a single machine they are in a file of their own, which all programs share.
    name: '0005_budgets',
    statements: [
      ...budgetSchema('', 'INTEGER PRIMARY KEY AUTOINCREMENT').trim().replace(/;$/, '').split(/;\s*/),
      `CREATE TABLE budget_lock (
  id INTEGER PRIMARY KEY, -- 1
  holder TEXT NOT NULL,
  until REAL NOT NULL -- seconds since 1970, by the clock of the database
) STRICT`,
    ],
  },
  {
    // The audit log on Cloudflare. On a single machine it is a file of its own, which all programs share.
    name: '0006_audit',
    statements: [
      `CREATE TABLE audit_lines (
  seq INTEGER PRIMARY KEY, -- starting at 1
  line TEXT NOT NULL -- JSON in ASCII
) STRICT`,
    ],
  },
];

/** Returns the content of a migration's file. */
export function migrationText({ statements }: Migration): string {
  return `${statements.join(';\n\n')};\n`;
}
