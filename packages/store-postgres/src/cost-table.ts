import type { Event } from '@cobbler/agent';
import type { CostEntry, CostQuery, CostRow, CostSum } from '@cobbler/agent/store';
import {
  costFields,
  costNames,
  costRows,
  dayStarts,
  eventCosts,
  mergeCosts,
  quartersOf,
} from '@cobbler/agent/store';
import type { Connection, Database } from './database.ts';

/** The costs of all sessions, including deleted ones. Columns of a fixed size are first, because they are read faster. */
export const createCostTable: string = `
  CREATE TABLE $s.spending (
    quarter integer NOT NULL,       -- of an hour, since 1970
    ${costFields.map((field) => `"${field}" double precision NOT NULL`).join(', ')},
    session text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,  -- empty if the events do not name it, like the next two
    "user" text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    PRIMARY KEY (quarter, session, kind, model, "user", tool)
  )`;

/** The names are missing in a schema that an earlier release has brought to version 2. */
export const addCostNames: string = `
  ALTER TABLE $s.spending ADD COLUMN IF NOT EXISTS "user" text COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE $s.spending ADD COLUMN IF NOT EXISTS tool text COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE $s.spending DROP CONSTRAINT spending_pkey;
  ALTER TABLE $s.spending ADD PRIMARY KEY (quarter, session, kind, model, "user", tool)`;

const columns = costFields.map((field) => `"${field}"`);
const names = costNames.map((name) => `"${name}"`);
const recordType = `quarter integer, ${names.map((name) => `${name} text`).join(', ')}, ${columns.map((column) => `${column} double precision`).join(', ')}`;

/**
 * Returns a statement that adds costs to a session.
 * @param session SQL that selects the session's id as `id`, or nothing
 * @param values the parameter with the costs: see {@link costsJson}
 */
export function addCostsSql(schema: string, session: string, values: string): string {
  return `
    INSERT INTO ${schema}.spending AS t (session, quarter, ${[...names, ...columns].join(', ')})
    SELECT s.id, c.quarter, ${[...names, ...columns].map((column) => `c.${column}`).join(', ')}
    FROM ${session} s, json_to_recordset(${values}::json) AS c (${recordType})
    ON CONFLICT (quarter, session, ${names.join(', ')}) DO UPDATE SET
      ${columns.map((column) => `${column} = t.${column} + EXCLUDED.${column}`).join(', ')}`;
}

/** Returns the costs of events as a parameter of the statement. */
export function costsJson(events: readonly Event[]): string {
  return JSON.stringify(mergeCosts(events.flatMap(eventCosts).map(storable)));
}

function storable(entry: CostEntry): CostEntry {
  const { model, user, tool } = entry;
  return { ...entry, model: storableText(model), user: storableText(user), tool: storableText(tool) };
}

/** PostgreSQL rejects these characters in a text. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}

const sums = columns.map((column) => `sum(${column}) AS ${column}`).join(', ');
/** Maximum number of days that PostgreSQL adds up; the sums of quarters of an hour of more days are added up here. */
const maxDays = 4000;

/**
 * Reads the costs in a transaction with settings for sums of many rows: compiling the statement and sorting on disk
 * would take longer than the sums.
 */
export function readCosts(db: Database, schema: string, query: CostQuery): Promise<CostRow[]> {
  const { user } = query;
  const ofUser = user === undefined ? [] : [storableText(user)];
  const condition = user === undefined ? '' : ' AND "user" = $3';
  const inPeriod = `FROM ${schema}.spending WHERE quarter >= $1 AND quarter < $2${condition}`;
  return db.transaction(async (connection) => {
    const values = [...quartersOf(query), ...ofUser];
    await connection.query("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'");
    const starts = query.by === 'day' ? await dayStartsOf(connection, inPeriod, values, query) : [];
    const key = query.by === 'day' ? 'quarter' : `"${query.by}"`;
    const rows = await connection.query<CostSum>(
      `SELECT ${starts.length > 0 ? `width_bucket(quarter, $${values.length + 1}::int[])` : key} AS key, ${sums},
         min(quarter) AS "firstQuarter", max(quarter) AS "lastQuarter"
       ${inPeriod} GROUP BY 1`,
      starts.length > 0 ? [...values, starts] : values,
    );
    return costRows(
      rows.map((row) => (starts.length > 0 ? { ...row, key: row.firstQuarter } : row)),
      query,
    );
  });
}

/** Deletes the costs before a quarter of an hour and returns their number of requests. */
export async function deleteCosts(db: Connection, schema: string, quarter: number): Promise<number> {
  const [row] = await db.query<{ requests: number }>(
    `WITH deleted AS (DELETE FROM ${schema}.spending WHERE quarter < $1 RETURNING requests)
     SELECT coalesce(sum(requests), 0) AS requests FROM deleted`,
    [quarter],
  );
  return row?.requests ?? 0;
}

/** Returns the starts of the local days with costs; none if there are too many or no days. */
async function dayStartsOf(
  connection: Connection,
  inPeriod: string,
  values: readonly unknown[],
  query: CostQuery,
): Promise<number[]> {
  const select = `SELECT min(quarter) AS first, max(quarter) AS last ${inPeriod}`;
  const [row] = await connection.query<{ first: number | null; last: number | null }>(select, values);
  const { first, last } = row ?? {};
  if (first == null || last == null || last - first > maxDays * 96) return [];
  return dayStarts(first, last, query.timeZone);
}

/** Number of events in memory at a time. */
const pageLength = 1000;

interface PaidRow {
  readonly session: number;
  readonly seq: number;
  readonly id: string;
  readonly json: string | null;
}

/** Adds the costs of all events in the database. */
export async function addStoredCosts(connection: Connection, schema: string): Promise<void> {
  const select = `
    SELECT e.session, e.seq, t.id, CASE WHEN e.json ~ '"type":"(assistant|compacted|ask_failed)"' THEN e.json END AS json
    FROM ${schema}.events e JOIN ${schema}.sessions t ON t.key = e.session
    WHERE (e.session, e.seq) > ($1::bigint, $2::int) ORDER BY e.session, e.seq LIMIT ${pageLength}`;
  const add = addCostsSql(schema, '(SELECT $1::text AS id)', '$2');
  let rows: readonly PaidRow[] = [];
  do {
    const last = rows.at(-1);
    rows = await connection.query<PaidRow>(select, [last?.session ?? 0, last?.seq ?? 0]);
    for (const [id, events] of Map.groupBy(rows, (row) => row.id)) {
      const paid = events.flatMap(({ json }) => (json === null ? [] : (JSON.parse(json) as Event)));
      await connection.query(add, [id, costsJson(paid)]);
    }
  } while (rows.length === pageLength);
}
