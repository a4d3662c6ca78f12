import type { Amounts } from '../../interfaces/amounts.ts';
import { read, text } from '../../values/input.ts';
import type { Awaitable, Balance, BalanceKey, BudgetTables, Hold, NumberedHold } from './budget-tables.ts';
import type { BudgetDefinition } from './definition.ts';

/** A value that a statement binds or returns. */
export type SqlValue = string | number | null;

/** Executes statements of one transaction, in SQLite or PostgreSQL. */
export interface BudgetSql {
  /** Executes a statement whose parameters are question marks. */
  query(sql: string, values: readonly SqlValue[]): Awaitable<readonly Readonly<Record<string, SqlValue>>[]>;
  /** The clock that all processes share, in milliseconds since 1970. */
  now(): Awaitable<number>;
  /** What precedes the name of each table, such as the schema and a dot. */
  readonly prefix: string;
}

/** Returns the statements that create the tables. `numbered` is a column that numbers the rows in order of insertion. */
export function budgetSchema(givenPrefix: string, givenNumbered: string): string {
  const prefix = read(givenPrefix, text, 'prefix');
  const numbered = read(givenNumbered, text, 'numbered');
  return `
  CREATE TABLE ${prefix}budgets (
    name TEXT PRIMARY KEY,
    parent TEXT,
    definition TEXT NOT NULL              -- JSON
  );
  CREATE INDEX budgets_below ON ${prefix}budgets (parent);
  CREATE TABLE ${prefix}balances (
    budget TEXT NOT NULL,
    period TEXT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    requests DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (budget, period)
  );
  CREATE TABLE ${prefix}holds (
    number ${numbered},
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    state TEXT NOT NULL,                  -- waiting, open, charged or granted
    usd DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    requests DOUBLE PRECISION NOT NULL,
    waits_in TEXT,                        -- name of the budget
    waits_period TEXT,
    since DOUBLE PRECISION NOT NULL       -- milliseconds since 1970, as all times
  );
  CREATE INDEX holds_by_state ON ${prefix}holds (state, since);
  CREATE INDEX holds_of_session ON ${prefix}holds (session);
  CREATE TABLE ${prefix}hold_balances (
    hold TEXT NOT NULL,                   -- id
    level INTEGER NOT NULL,               -- 0: its own budget
    budget TEXT NOT NULL,
    period TEXT NOT NULL,
    PRIMARY KEY (hold, level)
  );
  CREATE INDEX holds_in_balance ON ${prefix}hold_balances (budget, period);
  CREATE TABLE ${prefix}budget_owners (
    owner TEXT PRIMARY KEY,
    until DOUBLE PRECISION NOT NULL
  );`;
}

const sums = ['usd', 'tokens', 'requests'].map((name) => `coalesce(sum(h.${name}), 0) AS ${name}`).join(', ');

/** The data of a budget store in a database. */
export class SqlTables implements BudgetTables {
  readonly #sql: BudgetSql;

  constructor(sql: BudgetSql) {
    this.#sql = sql;
  }

  now(): Awaitable<number> {
    return this.#sql.now();
  }

  async budget(name: string): Promise<BudgetDefinition | undefined> {
    const row = await this.#row(`SELECT definition FROM ${this.#p}budgets WHERE name = ?`, [name]);
    return row && (JSON.parse(String(row['definition'])) as BudgetDefinition);
  }

  async putBudget(definition: BudgetDefinition): Promise<void> {
    await this.#sql.query(
      `INSERT INTO ${this.#p}budgets (name, parent, definition) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET parent = excluded.parent, definition = excluded.definition`,
      [definition.name, definition.parent ?? null, JSON.stringify(definition)],
    );
  }

  async names(): Promise<readonly string[]> {
    const rows = await this.#sql.query(`SELECT name FROM ${this.#p}budgets`, []);
    return rows.map(({ name }) => String(name)).sort();
  }

  async children(parent: string): Promise<readonly string[]> {
    const rows = await this.#sql.query(`SELECT name FROM ${this.#p}budgets WHERE parent = ?`, [parent]);
    return rows.map(({ name }) => String(name));
  }

  async balance({ budget, period }: BalanceKey, before: number): Promise<Balance> {
    const rows = await this.#sql.query(
      `SELECT 'settled' AS part, usd, tokens, requests FROM ${this.#p}balances WHERE budget = ? AND period = ?
       UNION ALL
       SELECT h.state, ${sums} FROM ${this.#p}hold_balances b JOIN ${this.#p}holds h ON h.id = b.hold
         WHERE b.budget = ? AND b.period = ? AND h.state IN ('open', 'granted') GROUP BY h.state
       UNION ALL
       SELECT 'awaited', 0, 0, 0 FROM ${this.#p}holds
         WHERE state = 'waiting' AND waits_in = ? AND waits_period = ? AND number < ?`,
      [budget, period, budget, period, budget, period, before],
    );
    const part = (name: string) => rows.find((row) => row['part'] === name);
    return {
      settled: amountsOf(part('settled')),
      reserved: amountsOf(part('open')),
      granted: amountsOf(part('granted')),
      isAwaited: part('awaited') !== undefined,
    };
  }

  async add({ budget, period }: BalanceKey, { usd, tokens, requests }: Amounts): Promise<void> {
    const table = `${this.#p}balances`;
    await this.#sql.query(
      `INSERT INTO ${table} AS b (budget, period, usd, tokens, requests) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (budget, period) DO UPDATE SET usd = b.usd + excluded.usd,
         tokens = b.tokens + excluded.tokens, requests = b.requests + excluded.requests`,
      [budget, period, usd, tokens, requests],
    );
  }

  async hold(id: string): Promise<NumberedHold | undefined> {
    const [hold] = await this.#holds('h.id = ?', [id]);
    return hold;
  }

  async putHold(hold: Hold): Promise<void> {
    const { id, owner, sessionId, runId, state, amounts, balances, waitsIn, since } = hold;
    const { usd, tokens, requests } = amounts;
    await this.#sql.query(
      `INSERT INTO ${this.#p}holds
         (id, owner, session, run, state, usd, tokens, requests, waits_in, waits_period, since)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, state = excluded.state, usd = excluded.usd,
         tokens = excluded.tokens, requests = excluded.requests, waits_in = excluded.waits_in,
         waits_period = excluded.waits_period, since = excluded.since`,
      [
        ...[id, owner, sessionId, runId, state, usd, tokens, requests],
        ...[waitsIn?.budget ?? null, waitsIn?.period ?? null, since],
      ],
    );
    // While it waited, a budget on its way to the root can have got another parent.
    await this.#sql.query(`DELETE FROM ${this.#p}hold_balances WHERE hold = ?`, [id]);
    await this.#sql.query(
      `INSERT INTO ${this.#p}hold_balances (hold, level, budget, period)
       VALUES ${balances.map(() => '(?, ?, ?, ?)').join(', ')}`,
      balances.flatMap(({ budget, period }, level) => [id, level, budget, period]),
    );
  }

  async removeHold(id: string): Promise<void> {
    await this.#sql.query(`DELETE FROM ${this.#p}hold_balances WHERE hold = ?`, [id]);
    await this.#sql.query(`DELETE FROM ${this.#p}holds WHERE id = ?`, [id]);
  }

  holdsOf(sessionId: string): Promise<readonly NumberedHold[]> {
    return this.#holds("h.session = ? AND h.state <> 'waiting'", [sessionId]);
  }

  abandoned(now: number, askedBefore: number): Promise<readonly NumberedHold[]> {
    const alive = `SELECT 1 FROM ${this.#p}budget_owners o WHERE o.owner = h.owner AND o.until > ?`;
    return this.#holds(
      `h.state IN ('open', 'waiting') AND (NOT EXISTS (${alive}) OR (h.state = 'waiting' AND h.since < ?))`,
      [now, askedBefore],
    );
  }

  async prune(now: number, chargedBefore: number, max: number): Promise<void> {
    await this.#sql.query(`DELETE FROM ${this.#p}budget_owners WHERE until <= ?`, [now]);
    const rows = await this.#sql.query(
      `SELECT id FROM ${this.#p}holds WHERE state = 'charged' AND since < ?
       UNION SELECT id FROM (SELECT id FROM ${this.#p}holds WHERE state = 'charged'
         ORDER BY since DESC, number DESC LIMIT ? OFFSET ?) AS oldest`,
      [chargedBefore, Number.MAX_SAFE_INTEGER, max],
    );
    for (const { id } of rows) await this.removeHold(String(id));
  }

  async setAlive(owner: string, until: number | undefined): Promise<void> {
    if (until === undefined) {
      await this.#sql.query(`DELETE FROM ${this.#p}budget_owners WHERE owner = ?`, [owner]);
      return;
    }
    await this.#sql.query(
      `INSERT INTO ${this.#p}budget_owners (owner, until) VALUES (?, ?)
       ON CONFLICT (owner) DO UPDATE SET until = excluded.until`,
      [owner, until],
    );
  }

  get #p(): string {
    return this.#sql.prefix;
  }

  async #holds(where: string, values: readonly SqlValue[]): Promise<NumberedHold[]> {
    const rows = await this.#sql.query(
      `SELECT * FROM ${this.#p}holds h WHERE ${where} ORDER BY h.number`,
      values,
    );
    const holds: NumberedHold[] = [];
    for (const row of rows) {
      const places = await this.#sql.query(
        `SELECT budget, period FROM ${this.#p}hold_balances WHERE hold = ? ORDER BY level`,
        [String(row['id'])],
      );
      const balances = places.map(({ budget, period }) => ({
        budget: String(budget),
        period: String(period),
      }));
      holds.push({ ...holdOf(row), balances });
    }
    return holds;
  }

  async #row(
    sql: string,
    values: readonly SqlValue[],
  ): Promise<Readonly<Record<string, SqlValue>> | undefined> {
    const [row] = await this.#sql.query(sql, values);
    return row;
  }
}

function amountsOf(row: Readonly<Record<string, SqlValue>> | undefined): Amounts {
  const value = (name: string) => Number(row?.[name] ?? 0);
  return { usd: value('usd'), tokens: value('tokens'), requests: value('requests') };
}

function holdOf(row: Readonly<Record<string, SqlValue>>): Omit<NumberedHold, 'balances'> {
  const column = (name: string) => String(row[name]);
  const waitsIn = { budget: column('waits_in'), period: column('waits_period') };
  return {
    number: Number(row['number']),
    id: column('id'),
    owner: column('owner'),
    sessionId: column('session'),
    runId: column('run'),
    // The tables contain only what this class wrote.
    state: column('state') as Hold['state'],
    amounts: amountsOf(row),
    ...(row['waits_in'] !== null && { waitsIn }),
    since: Number(row['since']),
  };
}
