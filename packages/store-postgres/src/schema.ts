import { AgentError } from '@cobbler/agent';
import { addCostNames, addStoredCosts, createCostTable } from './cost-table.ts';
import type { Connection, PostgresOptions } from './database.ts';
import { Database } from './database.ts';

/** A step from one version to the next: SQL, or a function that runs in the same transaction. */
export type Migration = string | ((connection: Connection, schema: string) => Promise<void>);

/**
 * The migrations. Each creates one version of the schema from the previous one, starting from an empty schema. A
 * released version never changes: add a new one instead. `$s` is the schema name.
 *
 * A session's row contains the last position of its log, so that one statement can check the writer and the position
 * and insert events. It also contains the counts shown in lists, because every append writes this row anyway. `xact`
 * is the transaction that added an event: polling queries the transactions that were open at the last poll.
 */
const sessions: readonly Migration[] = [
  `
  CREATE SEQUENCE $s.epochs;

  CREATE TABLE $s.owners (
    lock text PRIMARY KEY,
    pid integer NOT NULL,
    host text NOT NULL,
    since bigint NOT NULL,          -- milliseconds since 1970, like all times that are not timestamps
    seen timestamptz NOT NULL       -- by the database clock, which all processes share
  );

  CREATE TABLE $s.sessions (
    key bigserial PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL,          -- of the current writer
    owner text,                     -- lock of the process with a running run
    created bigint NOT NULL,
    updated bigint,                 -- when a run last started or ended; null before the first event
    title text,
    parent text,
    parent_seq integer,
    last integer NOT NULL DEFAULT 0,
    tally text NOT NULL             -- JSON; statistics of the events up to the last
  ) WITH (fillfactor = 70);
  CREATE INDEX sessions_listed ON $s.sessions (updated DESC, key DESC) WHERE updated IS NOT NULL;
  CREATE INDEX sessions_owned ON $s.sessions (owner) WHERE owner IS NOT NULL;

  CREATE TABLE $s.events (
    session bigint NOT NULL,
    seq integer NOT NULL,
    epoch bigint NOT NULL,          -- of the writer that added it
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    json text NOT NULL,             -- not jsonb, which rejects \\u0000 and reorders fields
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
  async (connection, schema) => {
    await connection.query(createCostTable.replaceAll('$s', schema));
    await addStoredCosts(connection, schema);
  },
  addCostNames,
  // The users with whom a session is shared, in JSON; null for none.
  'ALTER TABLE $s.sessions ADD COLUMN shares text',
];

/** Tables with a version of their own. */
export interface Tables {
  /** Name of the table that contains the version. */
  readonly mark: string;
  readonly migrations: readonly Migration[];
}

/** Tables of the sessions. Their mark distinguishes a Cobbler schema from others. */
export const sessionTables: Tables = { mark: 'cobbler_sessions', migrations: sessions };

/** Pattern of a schema name, which is used in statements without quotes. */
const schemaPattern = /^[a-z_][a-z0-9_]{0,39}$/;

/** An open database, and the options with their defaults. */
export interface OpenedSchema {
  readonly db: Database;
  readonly schema: string;
  readonly leaseMs: number;
}

/**
 * Opens a database. Before the first statement, its tables of the sessions and these are brought up to date.
 * @throws AgentError `invalid`, code `store_address` or `store_schema`.
 */
export function openSchema(
  {
    url,
    schema = 'cobbler',
    leaseMs = 15_000,
    busyMs = 4000,
    statementMs = 10_000,
    connections,
  }: PostgresOptions,
  defaultConnections: number,
  prepareMore: (connection: Connection) => Promise<void>,
): OpenedSchema {
  checkSchemaName(schema);
  const prepare = async (connection: Connection) => {
    await migrate(connection, schema, sessionTables);
    await prepareMore(connection);
  };
  const db = new Database({
    url,
    connections: connections ?? defaultConnections,
    busyMs,
    statementMs,
    prepare,
  });
  return { db, schema, leaseMs };
}

/** @throws AgentError `invalid` for an invalid name. */
function checkSchemaName(schema: string): void {
  if (schemaPattern.test(schema)) return;
  const message = `The schema name ${JSON.stringify(schema.slice(0, 60))} is invalid. Use 1 to 40 characters from a-z, 0-9 and _, not starting with a digit.`;
  throw new AgentError({ kind: 'invalid', code: 'store_schema', message });
}

/**
 * Brings the schema up to date atomically, in one process at a time. The lock belongs to the transaction, because a
 * lock of a session would not survive a transaction pooler.
 * @throws AgentError `invalid`, code `store_newer` or `store_foreign`, without any changes.
 */
export async function migrate(connection: Connection, schema: string, tables: Tables): Promise<void> {
  const { mark, migrations } = tables;
  if ((await versionOf(connection, schema, tables)) === migrations.length) return;
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${mark}.${schema}`]);
  const version = await versionOf(connection, schema, tables);
  if (version === 0) {
    await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await connection.query(`CREATE TABLE ${schema}.${mark} (version integer NOT NULL)`);
    await connection.query(`INSERT INTO ${schema}.${mark} VALUES (0)`);
  }
  for (const step of migrations.slice(version))
    await (typeof step === 'string'
      ? connection.query(step.replaceAll('$s', schema))
      : step(connection, schema));
  await connection.query(`UPDATE ${schema}.${mark} SET version = $1`, [migrations.length]);
}

/** Returns the version of the tables; 0 if they are missing. */
async function versionOf(
  connection: Connection,
  schema: string,
  { mark, migrations }: Tables,
): Promise<number> {
  const found = await connection.query<{ name: string }>(selectTables, [schema]);
  const names = found.map(({ name }) => name);
  if (names.length > 0 && !names.includes(sessionTables.mark)) {
    const message = `The schema ${schema} in the database contains another program's tables. Choose another schema for the sessions.`;
    throw new AgentError({ kind: 'invalid', code: 'store_foreign', message });
  }
  if (!names.includes(mark)) return 0;
  const [row] = await connection.query<{ version: number }>(`SELECT version FROM ${schema}.${mark}`);
  const version = row?.version ?? 0;
  if (version <= migrations.length) return version;
  const message = `The schema ${schema} was written by a newer version of Cobbler (format ${version}; this version reads formats up to ${migrations.length}). Update Cobbler, or use another schema.`;
  throw new AgentError({ kind: 'invalid', code: 'store_newer', message });
}

const selectTables = `
  SELECT c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1`;
