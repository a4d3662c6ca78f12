import type { Event, Runtime, Store } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  amount,
  count,
  optional,
  read,
  record,
  text,
  withArguments,
  withMethods,
} from '@cobbler/agent/input';
import { isSessionId, readEvents, readOrigin, readWriter } from '@cobbler/agent/store';
import { readTime } from './chat-store.ts';
import type { Sql } from './sql.ts';
import { readSql } from './sql.ts';
import { numberIn, numberOrNone, textIn } from './sql-row.ts';

/** Stores the logs of turns. */
export interface EventStore extends Store {
  /** Deletes a log and excludes its current writer. Returns false if there is no log. */
  delete(sessionId: string): Promise<boolean>;
  /** Deletes the logs whose ids start with a prefix. Returns their number. An empty prefix matches none. */
  forgetTurns(prefix: string): Promise<number>;
  /** Deletes logs without new events since a time in milliseconds since 1970. Returns their number. */
  pruneTurns(before: number): Promise<number>;
}

/** Options of {@link sqlEvents}. */
export interface EventStoreOptions {
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
}

/** Maximum number of events per read, because a response of D1 must fit in the memory of a worker. */
const pageSize = 500;

const nextEpoch = `UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value`;

const take = `
  INSERT INTO sessions (id, epoch, last_seq, updated_at)
  SELECT ?1, value, 0, ?2 FROM counters WHERE name = 'epoch'
  ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`;

/** Inserts events. This single statement also checks that the writer and the position are current. */
const insert = `
  INSERT INTO events (session, seq, json)
  SELECT s.key, s.last_seq + 1 + each.key, each.value FROM sessions AS s, json_each(?4) AS each
  WHERE s.id = ?1 AND s.epoch = ?2 AND s.last_seq = ?3`;

const moveOn = `
  UPDATE sessions SET last_seq = ?3 + ?4, updated_at = ?5
  WHERE id = ?1 AND epoch = ?2 AND last_seq = ?3`;

const readOptions = record<EventStoreOptions>({ runtime: withMethods('now') });

/** Reads a store of the logs of turns. */
export const readTurns: Reader<EventStore> = withMethods(
  ...(['claim', 'append', 'read', 'sessions', 'delete', 'forgetTurns', 'pruneTurns'] as const),
);

/**
 * Stores the logs of turns in a database. Appended events survive a power failure, whether or not that was requested.
 * @throws AgentError `invalid` for an invalid database or option.
 */
export function sqlEvents(sql: Sql, options: EventStoreOptions = {}): EventStore {
  const { runtime = systemRuntime } = read(options, readOptions);
  return withArguments(eventsIn(read(sql, readSql, 'sql'), runtime), {
    claim: { sessionId: text, origin: optional(readOrigin) },
    append: { sessionId: text, events: readEvents, writer: readWriter },
    read: { sessionId: text, afterSeq: optional(count), limit: optional(amount) },
    delete: { sessionId: text },
    forgetTurns: { prefix: text },
    pruneTurns: { before: readTime },
  });
}

function eventsIn(sql: Sql, runtime: Runtime): EventStore {
  const inLine = line();
  return {
    async claim(sessionId) {
      if (!isSessionId(sessionId)) throw noSessionId(sessionId);
      const [epoch] = await sql.batch([
        { text: nextEpoch },
        { text: take, params: [sessionId, runtime.now()] },
      ]);
      return numberIn(epoch?.rows[0], 'value');
    },
    append: (sessionId, events, { epoch }) =>
      inLine(sessionId, () => append({ sql, now: runtime.now() }, sessionId, events, epoch)),
    read: (sessionId, afterSeq = 0, limit = Number.POSITIVE_INFINITY) =>
      eventsOf(sql, sessionId, afterSeq, limit),
    async sessions() {
      const { rows } = await sql.run('SELECT id FROM sessions WHERE last_seq > 0 ORDER BY key');
      return rows.map((row) => textIn(row, 'id'));
    },
    delete: async (sessionId) => (await remove(sql, 'id = ?1', sessionId)) > 0,
    forgetTurns: (prefix) => remove(sql, "?1 <> '' AND substr(id, 1, length(?1)) = ?1", prefix),
    pruneTurns: (before) => remove(sql, 'updated_at < ?1', before),
  };
}

/** Returns a function that runs work with the same name in order, because D1 may reorder concurrent calls. */
function line(): (name: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>();
  return (name, work) => {
    const done = last.get(name)?.then(work, work) ?? work();
    last.set(name, done);
    const leave = () => {
      if (last.get(name) === done) last.delete(name);
    };
    done.then(leave, leave);
    return done;
  };
}

/** Deletes logs. Returns the number of those with events. */
async function remove(sql: Sql, which: string, param: string | number): Promise<number> {
  const [counted] = await sql.batch([
    {
      text: `SELECT count(*) AS count FROM sessions WHERE last_seq > 0 AND (${which})`,
      params: [param],
    },
    {
      text: `DELETE FROM events WHERE session IN (SELECT key FROM sessions WHERE ${which})`,
      params: [param],
    },
    { text: `DELETE FROM sessions WHERE ${which}`, params: [param] },
  ]);
  return numberIn(counted?.rows[0], 'count');
}

async function append(
  { sql, now }: { readonly sql: Sql; readonly now: number },
  sessionId: string,
  events: readonly Event[],
  epoch: number,
): Promise<void> {
  const first = events[0]?.seq ?? 1;
  const wrong = events.find(({ seq }, offset) => seq !== first + offset);
  const writer = Number.isInteger(epoch) ? epoch : -1;
  const isEmpty = events.length === 0 || wrong !== undefined;
  const [, moved, there] = await sql.batch([
    ...(isEmpty ? [{ text: 'SELECT 1' }, { text: 'SELECT 1' }] : writing()),
    { text: 'SELECT epoch, last_seq FROM sessions WHERE id = ?1', params: [sessionId] },
  ]);
  if (!isEmpty && moved?.changes === 1) return;
  if (numberOrNone(there?.rows[0], 'epoch') !== writer) throw fencedError(sessionId);
  if (events.length > 0) throw gap(sessionId, wrong?.seq ?? first);

  function writing() {
    const place = [sessionId, writer, first - 1];
    const texts = read(events, () => JSON.stringify(events.map((event) => JSON.stringify(event))), 'events');
    return [
      { text: insert, params: [...place, texts] },
      { text: moveOn, params: [...place, events.length, now] },
    ];
  }
}

async function eventsOf(sql: Sql, sessionId: string, afterSeq: number, limit: number): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length < limit) {
    const rest = Math.min(limit - events.length, pageSize);
    const { rows } = await sql.run(
      `SELECT json FROM events WHERE session = (SELECT key FROM sessions WHERE id = ?1) AND seq > ?2
       ORDER BY seq LIMIT ?3`,
      [sessionId, afterSeq + events.length, rest],
    );
    for (const row of rows) events.push(JSON.parse(textIn(row, 'json')) as Event);
    if (rows.length < rest) break;
  }
  return events;
}

function noSessionId(id: string): AgentError {
  const message = `${JSON.stringify(id.slice(0, 80))} is not a valid id for a turn's log: use 1 to 128 characters from A-Z, a-z, 0-9 and ._:@-, starting with a letter or digit.`;
  return new AgentError({ kind: 'invalid', code: 'session_id', message });
}

function fencedError(sessionId: string): AgentError {
  const message = `Another process has claimed turn ${sessionId}; nothing was written.`;
  return new AgentError({ kind: 'invalid', code: 'fenced', message });
}

function gap(sessionId: string, seq: number): AgentError {
  const message = `Event ${seq} of turn ${sessionId} is out of order; nothing was written.`;
  return new AgentError({ kind: 'invalid', code: 'gap', message });
}
