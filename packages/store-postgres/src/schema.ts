import { AgentError } from '@cobbler/agent';
import type { Connection } from './database.ts';

/**
 * The migrations: each creates one version of the schema from the previous one, the first from an empty schema. A
 * released version never changes: add a new one instead. `$s` is the schema name.
 *
 * A session's row has the end of its log, so that one statement can check the writer and the position and insert. It
 * also has the listed counts, because every append writes this row anyway. `xact` is the transaction that added an
 * event: polling asks for transactions that were open at the last poll.
 */
const migrations: readonly string[] = [
  `
  CREATE SEQUENCE $s.epochs;

  CREATE TABLE $s.owners (
    lock text PRIMARY KEY,
    pid integer NOT NULL,
    host text NOT NULL,
    since bigint NOT NULL,          -- milliseconds since 1970, as all times that are no timestamps
    seen timestamptz NOT NULL       -- by the clock of the database, the only one that all processes share
  );

  CREATE TABLE $s.sessions (
    key bigserial PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL,          -- of the one writer that may write
    owner text,                     -- lock of the process whose run is under way
    created bigint NOT NULL,
    updated bigint,                 -- when a run last began or ended; nothing before there is an event
    title text,
    parent text,
    parent_seq integer,
    last integer NOT NULL DEFAULT 0,
    tally text NOT NULL             -- JSON; counts the events up to the last
  ) WITH (fillfactor = 70);
  CREATE INDEX sessions_listed ON $s.sessions (updated DESC, key DESC) WHERE updated IS NOT NULL;
  CREATE INDEX sessions_owned ON $s.sessions (owner) WHERE owner IS NOT NULL;

  CREATE TABLE $s.events (
    session bigint NOT NULL,
    seq integer NOT NULL,
    epoch bigint NOT NULL,          -- of the writer that added it
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    json text NOT NULL,             -- not jsonb, which knows no \\u0000 and no order of fields
    PRIMARY KEY (session, seq)
  );
  CREATE INDEX events_xact ON $s.events (xact);

  CREATE TABLE $s.snapshots (
    session bigint PRIMARY KEY,
    fold integer NOT NULL,          -- version of the fold
    seq integer NOT NULL,           -- of the last event folded
    messages integer NOT NULL,
    state text NOT NULL             -- JSON, without the messages
  );

  CREATE TABLE $s.snapshot_messages (
    session bigint NOT NULL,
    first integer NOT NULL,         -- index of the first message
    messages text NOT NULL,         -- JSON array
    PRIMARY KEY (session, first)
  );
  `,
];

/** The name of the table that tells our schema from any other. */
export const mark = 'cobbler_sessions';

/** The pattern of a schema name: it is used in statements unquoted. */
const schemaPattern = /^[a-z_][a-z0-9_]{0,39}$/;

/** @throws AgentError `invalid` for an invalid name. */
export function checkSchemaName(schema: string): void {
  if (schemaPattern.test(schema)) return;
  const message = `The name of a sessions schema has 1 to 40 of a-z, 0-9 and _, not ${JSON.stringify(schema.slice(0, 60))}.`;
  throw new AgentError({ kind: 'invalid', code: 'store_schema', message });
}

/**
 * Brings the schema up to date, all or nothing, and one process at a time: the lock is the transaction's, because one
 * of a session would not survive a transaction pooler.
 * @throws AgentError `invalid`, code `store_newer` or `store_foreign`; then nothing was changed.
 */
export async function migrate(
  connection: Connection,
  schema: string,
  steps: readonly string[] = migrations,
): Promise<void> {
  if ((await versionOf(connection, schema, steps.length)) === steps.length) return;
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${mark}.${schema}`]);
  const version = await versionOf(connection, schema, steps.length);
  if (version === 0) {
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await connection.query(`CREATE TABLE ${schema}.${mark} (version integer NOT NULL)`);
    await connection.query(`INSERT INTO ${schema}.${mark} VALUES (0)`);
  }
  for (const step of steps.slice(version)) await connection.query(step.replaceAll('$s', schema));
  await connection.query(`UPDATE ${schema}.${mark} SET version = $1`, [steps.length]);
}

/** 0 for a schema that is not there or empty. */
async function versionOf(connection: Connection, schema: string, known: number): Promise<number> {
  const [found] = await connection.query<{ ours: boolean; others: number }>(selectTables, [schema, mark]);
  if (found?.ours !== true) {
    if ((found?.others ?? 0) === 0) return 0;
    const message = `The schema ${schema} of the database contains tables of another program; choose another one for the sessions.`;
    throw new AgentError({ kind: 'invalid', code: 'store_foreign', message });
  }
  const [row] = await connection.query<{ version: number }>(`SELECT version FROM ${schema}.${mark}`);
  const version = row?.version ?? 0;
  if (version <= known) return version;
  const message = `The schema ${schema} was written by a newer version of Cobbler (format ${version}; this version reads formats up to ${known}). Update Cobbler, or use another schema.`;
  throw new AgentError({ kind: 'invalid', code: 'store_newer', message });
}

const selectTables = `
  SELECT coalesce(bool_or(c.relname = $2), false) AS ours, count(*)::int AS others
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1`;
