import type { DatabaseSync } from 'node:sqlite';
import type { CostEntry, CostQuery, CostRow, CostSum } from '../../store/costs.ts';
import { costFields } from '../../store/cost-totals.ts';
import { costRows, eventCost, quartersOf } from '../../store/costs.ts';
import { isCorrupt } from './database-error.ts';
import type { EventRow } from './event-scan.ts';
import { eventOf } from './event-scan.ts';
import { Statements } from './statements.ts';

/** The costs of all sessions, including deleted ones. Methods that write must be called in a transaction. */
export class CostTable {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds the cost of an event of a session. */
  add(sessionId: string, entry: CostEntry): void {
    const { quarter, kind, model } = entry;
    this.#sql.run(insertPayer, sessionId, kind, model);
    this.#sql.run(addSpending, quarter, ...costFields.map((field) => entry[field]), sessionId, kind, model);
  }

  read(query: CostQuery): CostRow[] {
    return costRows(this.#sql.rows<CostSum>(selects[query.by], ...quartersOf(query)), query);
  }
}

/**
 * Adds the costs of all events in the database. Events on damaged pages are omitted, because a damaged store has to
 * open.
 */
export function addStoredCosts(db: DatabaseSync): void {
  const sql = new Statements(db);
  const costs = new CostTable(sql);
  try {
    for (const { id, ...row } of sql.each<EventRow & { readonly id: string }>(selectPaid)) {
      const event = eventOf(row, id);
      const entry = event && eventCost(event);
      if (entry !== undefined) costs.add(id, entry);
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}

const columns = costFields.join(', ');

const insertPayer = 'INSERT OR IGNORE INTO payers (session, kind, model) VALUES (?, ?, ?)';
const addSpending = `
  INSERT INTO spending (quarter, ${columns}, payer)
  SELECT ?, ${costFields.map(() => '?').join(', ')}, payer FROM payers
  WHERE session = ? AND kind = ? AND model = ?
  ON CONFLICT (quarter, payer) DO UPDATE SET
    ${costFields.map((field) => `${field} = ${field} + excluded.${field}`).join(', ')}`;

const sums = costFields.map((field) => `sum(${field}) AS ${field}`).join(', ');
const inPeriod = 'FROM spending WHERE quarter >= ? AND quarter < ?';
const byPayer = `
  SELECT payer, ${sums}, min(quarter) AS firstQuarter, max(quarter) AS lastQuarter ${inPeriod} GROUP BY payer`;

/** Few rows have to be joined with the names if they are added up by payer first. */
function selectBy(name: 'model' | 'session' | 'kind'): string {
  return `
    SELECT ${name} AS key, ${sums}, min(firstQuarter) AS firstQuarter, max(lastQuarter) AS lastQuarter
    FROM (${byPayer}) JOIN payers USING (payer) GROUP BY ${name}`;
}

const selects: Readonly<Record<CostQuery['by'], string>> = {
  day: `SELECT quarter AS key, ${sums}, quarter AS firstQuarter, quarter AS lastQuarter ${inPeriod} GROUP BY quarter`,
  model: selectBy('model'),
  session: selectBy('session'),
  kind: selectBy('kind'),
};

const selectPaid = `
  SELECT sessions.id, events.seq, events.json, events.sum
  FROM events JOIN segments USING (segment) JOIN sessions ON sessions.key = segments.session
  WHERE json LIKE '%"type":"assistant"%' OR json LIKE '%"type":"compacted"%' OR json LIKE '%"type":"ask_failed"%'
  ORDER BY events.place`;
