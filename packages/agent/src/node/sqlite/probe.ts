import { sqlite } from './engine.ts';
import type { Statements } from './statements.ts';

/** Bytes that a probe writes: about as much as a short run. */
const probeBytes = 16_384;

/**
 * Writes what a prompt would write and takes it back, then writes a row that stays. To be called within a transaction.
 * @throws SQLite's error
 */
export function probeWrite(sql: Statements): void {
  sql.run('SAVEPOINT probe');
  // No session has this id, because an id starts with a letter or digit.
  const session = sql.insert("INSERT INTO sessions (id, epoch, created) VALUES ('-probe', 0, 0)");
  const segment = sql.insert('INSERT INTO segments (session, first) VALUES (?, 1)', session);
  sql.run('INSERT INTO events (segment, seq, json) VALUES (?, 1, hex(zeroblob(?)))', segment, probeBytes / 2);
  sql.run('ROLLBACK TO probe');
  sql.run('RELEASE probe');
  // What was taken back never reaches the disk; this does.
  sql.run('INSERT OR REPLACE INTO probe VALUES (1, zeroblob(?))', probeBytes);
}

/** Reads the last page of every table that a prompt uses, from the file and not from memory. @throws SQLite's error */
export function probeRead(file: string): void {
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
    (SELECT max(segment) FROM places), (SELECT sum(value) FROM counters), (SELECT count(*) FROM owners)`;
