import type { Event } from '@cobbler/agent';
import type { CostEntry, CostGroup, CostQuery, CostRow, CostSum } from '@cobbler/agent/store';
import { costFields, costRows, eventCost, mergeCosts, quartersOf } from '@cobbler/agent/store';
import type { Connection } from './database.ts';

/** The costs of all sessions, including deleted ones. */
export const createCostTable: string = `
  CREATE TABLE $s.spending (
    quarter integer NOT NULL,       -- of an hour, since 1970
    session text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,  -- empty if the events do not name it
    ${costFields.map((field) => `"${field}" double precision NOT NULL`).join(', ')},
    PRIMARY KEY (quarter, session, kind, model)
  )`;

const columns = costFields.map((field) => `"${field}"`);
const recordType = `quarter integer, kind text, model text, ${columns.map((column) => `${column} double precision`).join(', ')}`;

/**
 * Returns a statement that adds costs to a session.
 * @param session SQL that selects the session's id as `id`, or nothing
 * @param values the parameter with the costs: see {@link costsJson}
 */
export function addCostsSql(schema: string, session: string, values: string): string {
  return `
    INSERT INTO ${schema}.spending AS t (session, quarter, kind, model, ${columns.join(', ')})
    SELECT s.id, c.quarter, c.kind, c.model, ${columns.map((column) => `c.${column}`).join(', ')}
    FROM ${session} s, json_to_recordset(${values}::json) AS c (${recordType})
    ON CONFLICT (quarter, session, kind, model) DO UPDATE SET
      ${columns.map((column) => `${column} = t.${column} + EXCLUDED.${column}`).join(', ')}`;
}

/** Returns the costs of events as a parameter of the statement. */
export function costsJson(events: readonly Event[]): string {
  const entries = events.map(eventCost).filter((entry) => entry !== undefined);
  return JSON.stringify(mergeCosts(entries.map(storable)));
}

/** PostgreSQL rejects these characters in a text. */
function storable(entry: CostEntry): CostEntry {
  return { ...entry, model: entry.model.toWellFormed().replaceAll('\u0000', '') };
}

const sums = columns.map((column) => `sum(${column}) AS ${column}`).join(', ');
const keys: Readonly<Record<CostGroup, string>> = {
  day: 'quarter',
  model: 'model',
  session: 'session',
  kind: 'kind',
};

export async function readCosts(db: Connection, schema: string, query: CostQuery): Promise<CostRow[]> {
  const rows = await db.query<CostSum>(
    `SELECT ${keys[query.by]} AS key, ${sums}, min(quarter) AS "firstQuarter", max(quarter) AS "lastQuarter"
     FROM ${schema}.spending WHERE quarter >= $1 AND quarter < $2 GROUP BY 1`,
    [...quartersOf(query)],
  );
  return costRows(rows, query);
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
