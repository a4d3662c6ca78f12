import { randomUUID } from 'node:crypto';
import { AgentError } from '@cobbler/agent';
import type { ClaimedRun, Freed, Inbox, NewRun, Put, RunEndState, RunRecord } from '@cobbler/agent/runner';
import { fencedRun } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type { Connection, Database } from './database.ts';
import type { PostgresOwner } from './owner.ts';
import { aliveIn } from './owner.ts';

export interface PostgresInboxOptions {
  readonly db: Database;
  readonly schema: string;
  readonly owner: PostgresOwner;
  readonly leaseMs: number;
  readonly lookMs: number;
  readonly retention: { readonly maxAgeMs: number; readonly maxRuns: number };
  readonly now: () => number;
}

interface RunRow {
  readonly number: number;
  readonly queue: string | null;
}

/** Number of runs that one call claims. */
const batch = 20;

/** Number of ended runs after which old runs are removed. */
const prunedEvery = 100;

/**
 * Runs in PostgreSQL, shared by any number of processes. Every write can be repeated after a lost connection: it
 * carries a token or an epoch by which it recognizes its own first attempt. Writes to the runs of one key take the
 * key's lock, which belongs to the transaction, so that no two of them are claimed at once.
 */
export class PostgresInbox implements Inbox {
  readonly durable = true;
  readonly lookMs: number;
  readonly #options: PostgresInboxOptions;
  readonly #db: Database;
  readonly #s: string;
  readonly #free: string;
  #seen: readonly number[] = [];
  #endedSincePruning = 0;
  #isClosing = false;

  constructor(options: PostgresInboxOptions) {
    const { db, schema, leaseMs, lookMs } = options;
    this.#options = options;
    this.#db = db;
    this.#s = schema;
    this.lookMs = lookMs;
    const alive = (run: string) => aliveIn(schema, leaseMs).replace('t.owner', `${run}.owner`);
    this.#free = `t.state = 'open' AND t.due <= $1 AND NOT ${alive('t')} AND NOT EXISTS (
      SELECT 1 FROM ${schema}.runs other WHERE other.state = 'open' AND other.queue = t.queue
        AND other.number <> t.number
        AND (${alive('other')} OR (other.number < t.number AND other.due <= $1)))`;
  }

  async put({ runId, key, input, dueAt = 0 }: NewRun, maxAhead: number): Promise<Put> {
    const queue = key ?? null;
    const token = randomUUID();
    const s = this.#s;
    const result = await this.#write(queue, async (connection) => {
      const [known] = await connection.query<{ claim: string }>(`SELECT claim FROM ${s}.runs WHERE id = $1`, [
        runId,
      ]);
      if (known !== undefined) return known.claim === token ? 'put' : 'exists';
      if (queue !== null) {
        const busy = `SELECT 1 FROM ${s}.runs WHERE state = 'open' AND queue = $1 AND due <= $2 LIMIT 1 OFFSET $3`;
        if ((await connection.query(busy, [queue, this.#now(), maxAhead])).length > 0) return 'busy';
      }
      const rows = await connection.query(
        `INSERT INTO ${s}.runs (id, queue, state, input, epoch, due, claim)
         VALUES ($1, $2, 'open', $3, 0, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING number`,
        [runId, queue, input, Math.ceil(dueAt), token],
      );
      return rows.length > 0 ? 'put' : 'exists';
    });
    if (result !== 'put') return { result };
    return { result, ...defined({ run: await this.#claimFirst('AND t.id = $2', runId) }) };
  }

  async claimDue(): Promise<readonly ClaimedRun[]> {
    const rows = await this.#db.query<RunRow>(
      `SELECT t.number, t.queue FROM ${this.#s}.runs t WHERE ${this.#free} ORDER BY t.number LIMIT ${batch}`,
      [this.#now()],
    );
    const claimed: ClaimedRun[] = [];
    for (const row of rows) {
      const run = await this.#claim(row);
      if (run !== undefined) claimed.push(run);
    }
    return claimed;
  }

  async release({ runId, epoch }: ClaimedRun): Promise<void> {
    await this.#db.query(`UPDATE ${this.#s}.runs SET owner = NULL WHERE id = $1 AND epoch = $2`, [
      runId,
      epoch,
    ]);
  }

  async ack({ runId, epoch }: ClaimedRun, { state, text }: RunEndState): Promise<Freed> {
    const condition = "epoch = $4 AND (state = 'open' OR state = $2)";
    if (!(await this.#end(condition, [runId, state, text, epoch]))) throw fencedRun(runId);
    return await this.#endedRun(runId);
  }

  async cancel(runId: string): Promise<Freed> {
    // The outcome of a cancelled run is the token of its cancel.
    const condition = "state = 'open' OR (state = $2 AND outcome = $3 AND $4::bigint IS NULL)";
    if (!(await this.#end(condition, [runId, 'cancelled', randomUUID(), null]))) return { isOver: false };
    return await this.#endedRun(runId);
  }

  async signal(runId: string, name: string, text: string): Promise<boolean> {
    return (await this.#signal(runId, name, text, null)).isMine;
  }

  async signalled(runId: string, name: string): Promise<string | null | undefined> {
    const rows = await this.#db.query<{ text: string | null }>(
      `SELECT g.text FROM ${this.#s}.signals g JOIN ${this.#s}.runs t ON t.number = g.run
       WHERE t.id = $1 AND g.name = $2`,
      [runId, name],
    );
    return rows[0]?.text;
  }

  async giveUp({ runId, epoch }: ClaimedRun, name: string): Promise<string | null> {
    const { text } = await this.#signal(runId, name, null, epoch);
    if (text === undefined) throw fencedRun(runId);
    return text;
  }

  async standing(runId: string): Promise<RunRecord | undefined> {
    const [row] = await this.#db.query<{
      state: 'open' | 'done' | 'failed' | 'cancelled';
      outcome: string | null;
      owner: string | null;
      epoch: number;
    }>(`SELECT state, outcome, owner, epoch FROM ${this.#s}.runs WHERE id = $1`, [runId]);
    if (row === undefined) return undefined;
    const { state, outcome, owner, epoch } = row;
    if (state === 'open') return owner === null ? { state: 'queued' } : { state: 'running', epoch };
    return state === 'cancelled' ? { state } : { state, text: outcome ?? 'null' };
  }

  /** A change is reported twice, because the counter may be seen before the transaction that raised it. */
  async hasNews(): Promise<boolean> {
    const [row] = await this.#db.query<{ value: number }>(
      `SELECT last_value AS value FROM ${this.#s}.run_news`,
    );
    const value = row?.value ?? 0;
    const isNew = this.#seen.length < 2 || this.#seen.some((seen) => seen !== value);
    this.#seen = [...this.#seen, value].slice(-2);
    return isNew;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const { owner } = this.#options;
    await this.#db
      .query(`UPDATE ${this.#s}.runs SET owner = NULL WHERE owner = $1 AND state = 'open'`, [owner.lock])
      // Without the database, the runs become free when the lease of this process ends.
      .catch(() => []);
    await owner.end().catch(() => {});
    await this.#db.close();
  }

  #now(): number {
    return Math.floor(this.#options.now());
  }

  /** Runs a transaction that changes the runs of a key. */
  async #write<Value>(key: string | null, work: (connection: Connection) => Promise<Value>): Promise<Value> {
    if (this.#isClosing)
      throw new AgentError({ kind: 'invalid', code: 'closed', message: 'The runner has been closed.' });
    return await this.#db.transaction(async (connection) => {
      if (key !== null) {
        const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 1))';
        await connection.query(lock, [`${this.#s} ${key}`]);
      }
      const value = await work(connection);
      await connection.query(`SELECT nextval('${this.#s}.run_news')`);
      return value;
    });
  }

  async #claimFirst(which: string, value: string): Promise<ClaimedRun | undefined> {
    const [row] = await this.#db.query<RunRow>(
      `SELECT t.number, t.queue FROM ${this.#s}.runs t WHERE ${this.#free} ${which} ORDER BY t.number LIMIT 1`,
      [this.#now(), value],
    );
    return row && (await this.#claim(row));
  }

  async #claim({ number, queue }: RunRow): Promise<ClaimedRun | undefined> {
    await this.#options.owner.begin();
    const token = randomUUID();
    const [row] = await this.#write(queue, (connection) =>
      connection.query<{ id: string; epoch: number; input: string }>(
        `UPDATE ${this.#s}.runs t SET owner = $3, claim = $4,
           epoch = CASE WHEN t.claim = $4 THEN t.epoch ELSE nextval('${this.#s}.epochs') END
         WHERE t.number = $2 AND (t.claim = $4 OR (${this.#free})) RETURNING t.id, t.epoch, t.input`,
        [this.#now(), number, this.#options.owner.lock, token],
      ),
    );
    return row && { runId: row.id, epoch: row.epoch, input: row.input };
  }

  async #end(condition: string, values: readonly unknown[]): Promise<boolean> {
    const s = this.#s;
    const isOver = await this.#write(null, async (connection) => {
      const [ended] = await connection.query<{ number: number }>(
        `UPDATE ${s}.runs SET state = $2, outcome = $3, ended = $5, input = NULL, owner = NULL
         WHERE id = $1 AND (${condition}) RETURNING number`,
        [...values, this.#now()],
      );
      if (ended === undefined) return false;
      await connection.query(`DELETE FROM ${s}.signals WHERE run = $1`, [ended.number]);
      return true;
    });
    if (isOver) this.#endedSincePruning += 1;
    if (this.#endedSincePruning >= prunedEvery) this.#prune();
    return isOver;
  }

  async #endedRun(runId: string): Promise<Freed> {
    // Only the first due run of a key can be free. Comparing all with one another takes 200 ms if 1,000 of them wait.
    const runs = `${this.#s}.runs`;
    const first = `AND t.number = (SELECT min(number) FROM ${runs}
      WHERE state = 'open' AND queue = (SELECT queue FROM ${runs} WHERE id = $2) AND due <= $1)`;
    const next = await this.#claimFirst(first, runId);
    return { isOver: true, ...defined({ next }) };
  }

  /** Stores a signal unless there is one. The text is undefined if the run has ended or has another epoch. */
  async #signal(
    runId: string,
    name: string,
    text: string | null,
    epoch: number | null,
  ): Promise<{ readonly isMine: boolean; readonly text: string | null | undefined }> {
    const token = randomUUID();
    const s = this.#s;
    const open = `SELECT number FROM ${s}.runs WHERE id = $1 AND state = 'open' AND ($2::bigint IS NULL OR epoch = $2)`;
    return await this.#write(null, async (connection) => {
      const [run] = await connection.query<{ number: number }>(`${open} FOR UPDATE`, [runId, epoch]);
      if (run === undefined) return { isMine: false, text: undefined };
      await connection.query(`INSERT INTO ${s}.signals VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, [
        run.number,
        name,
        text,
        token,
      ]);
      const [kept] = await connection.query<{ text: string | null; token: string }>(
        `SELECT text, token FROM ${s}.signals WHERE run = $1 AND name = $2`,
        [run.number, name],
      );
      return { isMine: kept?.token === token, text: kept?.text ?? null };
    });
  }

  /** Removes old runs. A failure is ignored: they remain until the next time. */
  #prune(): void {
    this.#endedSincePruning = 0;
    const { maxAgeMs, maxRuns } = this.#options.retention;
    this.#db
      .query(
        `DELETE FROM ${this.#s}.runs WHERE state <> 'open' AND (ended < $1 OR number IN (
           SELECT number FROM ${this.#s}.runs WHERE state <> 'open' ORDER BY ended DESC, number DESC OFFSET $2))`,
        [this.#now() - maxAgeMs, maxRuns],
      )
      .catch(() => {});
  }
}
