import type { DatabaseSync } from 'node:sqlite';
import { costFields, noCosts } from '../../store/cost-totals.ts';
import type { CostEntry, CostGroup, CostQuery, CostRow, CostSum } from '../../store/costs.ts';
import {
  costKey,
  costNames,
  costRows,
  dayEnd,
  eventCosts,
  mergeCosts,
  quartersOf,
} from '../../store/costs.ts';
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

  add(sessionId: string, entry: CostEntry): void {
    const payer = [sessionId, ...costNames.map((name) => entry[name])];
    this.#sql.run(insertPayer, ...payer);
    this.#sql.run(addSpending, entry.quarter, ...costFields.map((field) => entry[field]), ...payer);
  }

  /** Deletes the costs before a quarter of an hour and returns their number of requests. */
  deleteBefore(quarter: number): number {
    const [{ requests = 0 } = {}] = this.#sql.rows<CostSum>(selectDay + inPeriod, 0, quarter);
    this.#sql.run('DELETE FROM spending WHERE quarter < ?', quarter);
    this.#sql.run('DELETE FROM payers WHERE payer NOT IN (SELECT payer FROM spending)');
    this.#sql.run(keepStart, quarter);
    return requests ?? 0;
  }

  /**
   * Returns true if the costs of a session are those of its events. An earlier session with the same id may have spent
   * more before this one was created, in milliseconds since 1970. Must be called in a transaction.
   */
  areOf(sessionId: string, spent: readonly CostEntry[], created: number): boolean {
    const expected = new Map(unnamed(spent).map((entry) => [costKey(entry), entry]));
    const [start] = this.#sql.rows<{ value: number }>("SELECT value FROM counters WHERE name = 'costs'");
    const [createdAt] = quartersOf({ by: 'day', since: created });
    for (const row of unnamed(this.#sql.rows<CostEntry>(selectSession, sessionId))) {
      const entry = expected.get(costKey(row)) ?? { ...row, ...noCosts };
      const isShared = row.quarter <= createdAt;
      if (
        !costFields.every(
          (field) => isClose(row[field], entry[field]) || (isShared && row[field] > entry[field]),
        )
      )
        return false;
      expected.delete(costKey(row));
    }
    return [...expected.values()].every(({ quarter }) => quarter < (start?.value ?? 0));
  }

  read(query: CostQuery): CostRow[] {
    const [from, to] = quartersOf(query);
    const { by } = query;
    const wanted = ofUser(query);
    return costRows(
      by === 'day'
        ? this.#days(from, to, query)
        : this.#sql.rows(selectBy(by, wanted.sql), from, to, ...wanted.values),
      query,
    );
  }

  /** Reads each day separately, because grouping a year by quarters of an hour takes longer than adding them up. */
  #days(from: number, to: number, query: CostQuery): CostSum[] {
    const { sql, values } = ofUser(query);
    const days: CostSum[] = [];
    for (let start = from; ; ) {
      const [row] = this.#sql.rows<{ first: number | null }>(
        `SELECT min(quarter) AS first ${inPeriod}${sql}`,
        start,
        to,
        ...values,
      );
      const first = row?.first ?? to;
      if (first >= to) return days;
      start = dayEnd(first, query.timeZone);
      days.push(
        ...this.#sql.rows<CostSum>(selectDay + inPeriod + sql, first, Math.min(start, to), ...values),
      );
    }
  }
}

/** Adds the costs of all events in the database. Events on damaged pages are omitted, because a damaged store has to open. */
export function addStoredCosts(db: DatabaseSync): void {
  const sql = new Statements(db);
  const costs = new CostTable(sql);
  try {
    for (const { id, ...row } of sql.each<EventRow & { readonly id: string }>(selectPaid)) {
      const event = eventOf(row, id);
      for (const entry of event === undefined ? [] : eventCosts(event)) costs.add(id, entry);
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}

const columns = costFields.join(', ');
const names = costNames.join(', ');

/** Rows of an earlier version name neither the user nor the tool. */
function unnamed(entries: readonly CostEntry[]): CostEntry[] {
  return mergeCosts(entries.map((entry) => ({ ...entry, user: '', tool: '' })));
}

/** Sums of the same numbers in another order differ a little. */
function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other));
}

const keepStart = `
  INSERT INTO counters VALUES ('costs', ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`;
const selectSession = `
  SELECT quarter, ${names}, ${columns} FROM spending JOIN payers USING (payer) WHERE session = ?`;
const insertPayer = `INSERT OR IGNORE INTO payers (session, ${names}) VALUES (?${', ?'.repeat(costNames.length)})`;
const addSpending = `
  INSERT INTO spending (quarter, ${columns}, payer)
  SELECT ?, ${costFields.map(() => '?').join(', ')}, payer FROM payers
  WHERE session = ? AND ${costNames.map((name) => `${name} = ?`).join(' AND ')}
  ON CONFLICT (quarter, payer) DO UPDATE SET
    ${costFields.map((field) => `${field} = ${field} + excluded.${field}`).join(', ')}`;

const sums = costFields.map((field) => `sum(${field}) AS ${field}`).join(', ');
const inPeriod = 'FROM spending WHERE quarter >= ? AND quarter < ?';

/** Returns the condition for the costs of the user of a query, and its value. */
function ofUser({ user }: CostQuery): { readonly sql: string; readonly values: readonly string[] } {
  if (user === undefined) return { sql: '', values: [] };
  return { sql: ' AND payer IN (SELECT payer FROM payers WHERE user = ?)', values: [user] };
}

/** Few rows have to be joined with the names if they are added up by payer first. */
function selectBy(name: Exclude<CostGroup, 'day'>, condition: string): string {
  const byPayer = `
    SELECT payer, ${sums}, min(quarter) AS firstQuarter, max(quarter) AS lastQuarter ${inPeriod}${condition}
    GROUP BY payer`;
  return `
    SELECT ${name} AS key, ${sums}, min(firstQuarter) AS firstQuarter, max(lastQuarter) AS lastQuarter
    FROM (${byPayer}) JOIN payers USING (payer) GROUP BY ${name}`;
}

const selectDay = `
  SELECT min(quarter) AS key, ${sums}, min(quarter) AS firstQuarter, max(quarter) AS lastQuarter `;

const selectPaid = `
  SELECT sessions.id, events.seq, events.json, events.sum
  FROM events JOIN segments USING (segment) JOIN sessions ON sessions.key = segments.session
  WHERE json LIKE '%"type":"assistant"%' OR json LIKE '%"type":"compacted"%' OR json LIKE '%"type":"ask_failed"%'
  ORDER BY events.place`;
