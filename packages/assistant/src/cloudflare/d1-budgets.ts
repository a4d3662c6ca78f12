import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { BudgetSql, BudgetStore } from '@cobbler/agent/budgets';
import { sqlBudgets } from '@cobbler/agent/budgets';
import { amount, read, record, withMethods } from '@cobbler/agent/input';
import { backoff } from '@cobbler/agent/values';
import type { Sql, SqlStatement } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';

/** Options of {@link d1Budgets}. */
export interface D1BudgetsOptions {
  /** D1, with the assistant's migrations applied. */
  readonly sql: Sql;
  /** Default: the clock of this process. */
  readonly runtime?: Pick<Runtime, 'now' | 'timer' | 'random' | 'id'>;
  /** Time after which a Worker that shows no sign of life counts as crashed, in milliseconds. Default 60,000. */
  readonly leaseMs?: number;
}

const readOptions = record<D1BudgetsOptions>(
  { sql: readSql, runtime: withMethods('now', 'timer', 'random', 'id'), leaseMs: amount },
  ['sql'],
);

/** Time after which the lock of a Worker that has ended is free, in seconds: much longer than its statements take. */
const lockSeconds = 10;

/** Delays while another Worker has the lock: about 20 seconds together, longer than a lock that was left behind. */
const lockPause = { baseMs: 20, maxMs: 500 };
const maxAttempts = 50;

/**
 * Opens budgets in D1, which any number of Workers share. Call `flush` of their client before a Worker ends: what is not settled
 * counts as spent in full until the session continues.
 * @throws AgentError `invalid`, code `bad_option`, for an invalid option. Methods reject with the codes of `d1Sql`.
 */
export function d1Budgets(given: D1BudgetsOptions): BudgetStore {
  const { sql, runtime = systemRuntime, leaseMs = 60_000 } = read(given, readOptions);
  return sqlBudgets({
    runtime,
    leaseMs,
    async transaction(work) {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const lock = new Lock(sql, runtime);
        if (await lock.take()) {
          try {
            const value = await work(lock);
            await lock.release();
            return value;
          } catch (error) {
            // Another Worker took the lock because this one was too slow. Nothing since its last commit is stored.
            if (isLost(error)) continue;
            await lock.abandon();
            throw error;
          }
        }
        await new Promise<void>((resolve) => {
          runtime.timer(backoff(lockPause, attempt, runtime.random()), resolve);
        });
      }
      const message = 'Other Workers locked the budgets for too long. Try again.';
      throw new AgentError({ kind: 'agent', code: 'store', retryable: true, message });
    },
    onClose: async () => {},
  });
}

/**
 * The statements of one Worker at a time, because D1 has no transactions that span several calls. Writes wait for the next
 * read or the end, and are then committed in one batch, with the check that the lock is still held. The rules of budgets read
 * nothing between writes that belong together, so that a Worker can end between any two batches.
 */
class Lock implements BudgetSql {
  readonly prefix = '';
  readonly #sql: Sql;
  readonly #holder: string;
  readonly #now: () => number;
  #writes: SqlStatement[] = [];

  constructor(sql: Sql, runtime: Pick<Runtime, 'now' | 'id'>) {
    this.#sql = sql;
    this.#holder = runtime.id();
    this.#now = () => runtime.now();
  }

  now(): number {
    return this.#now();
  }

  async query(text: string, params: readonly (string | number | null)[]) {
    this.#writes.push({ text, params });
    if (!text.startsWith('SELECT')) return [];
    const isAlone = this.#writes.length === 1;
    const statements = this.#writes.splice(0);
    const answers = await this.#sql.batch(isAlone ? statements : [this.#hold(lockSeconds), ...statements]);
    // The tables have neither bytes nor large integers.
    return (answers.at(-1)?.rows ?? []) as Readonly<Record<string, string | number | null>>[];
  }

  /** Takes the lock. Returns false if another Worker has it. The clock of the database decides. */
  async take(): Promise<boolean> {
    const { rows } = await this.#sql.run(
      `INSERT INTO budget_lock (id, holder, until) VALUES (1, ?1, unixepoch('subsec') + ?2)
       ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE budget_lock.until <= unixepoch('subsec')
       RETURNING holder`,
      [this.#holder, lockSeconds],
    );
    return rows.length > 0;
  }

  /** Commits what is left, and frees the lock. */
  async release(): Promise<void> {
    await this.#sql.batch([this.#hold(0), ...this.#writes]);
  }

  /** Frees the lock without what is left. If that fails, the lock ends by time. */
  async abandon(): Promise<void> {
    await this.#sql.batch([this.#hold(0)]).catch(() => undefined);
  }

  /** Keeps the lock for a time. Fails, and with it its batch, if another Worker has it: its holder cannot be null. */
  #hold(seconds: number): SqlStatement {
    const text = `UPDATE budget_lock
      SET holder = CASE WHEN holder = ?1 THEN holder END, until = unixepoch('subsec') + ?2`;
    return { text, params: [this.#holder, seconds] };
  }
}

function isLost(error: unknown): boolean {
  return AgentError.is(error) && error.message.includes('NOT NULL constraint failed: budget_lock.holder');
}
