import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database } from './database.ts';

/** A process with active runs, as other processes see it. */
export interface PostgresOwnerRow {
  readonly lock: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/** Beats within the time after which a process that is silent counts as dead. */
const beats = 4;

/** Number of lease times after which the row of a dead process is deleted. */
const kept = 100;

/**
 * This process as an owner in the database: it is alive while it updates its row. A process that was silent too long,
 * even if alive, loses its sessions to the next claim; epochs keep it from writing.
 */
export class PostgresOwner {
  readonly lock: string = randomUUID();
  readonly #db: Database;
  readonly #schema: string;
  readonly #leaseMs: number;
  #begun: Promise<void> | undefined;
  #beat: NodeJS.Timeout | undefined;

  constructor(db: Database, schema: string, leaseMs: number) {
    this.#db = db;
    this.#schema = schema;
    this.#leaseMs = leaseMs;
  }

  /** Makes this process known, before its first claim. */
  begin(): Promise<void> {
    this.#begun ??= this.#begin().catch((error: unknown) => {
      this.#begun = undefined;
      throw error;
    });
    return this.#begun;
  }

  async #begin(): Promise<void> {
    await this.#say();
    const s = this.#schema;
    await this.#db.query(`DELETE FROM ${s}.owners WHERE seen < now() - $1 * interval '1 millisecond'`, [
      this.#leaseMs * kept,
    ]);
    this.#beat = setInterval(() => {
      // The next beat may succeed; until then others may think us dead, and are safe to.
      this.#say().catch(() => {});
    }, this.#leaseMs / beats);
    this.#beat.unref();
  }

  async #say(): Promise<void> {
    const since = Math.floor(Date.now() - process.uptime() * 1000);
    await this.#db.query(
      `INSERT INTO ${this.#schema}.owners VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (lock) DO UPDATE SET seen = now()`,
      [this.lock, process.pid, hostname(), since],
    );
  }

  /** Releases everything that this process holds. */
  async end(): Promise<void> {
    clearInterval(this.#beat);
    if (this.#begun === undefined) return;
    await this.#begun.catch(() => {});
    const s = this.#schema;
    await this.#db.transaction(async (connection) => {
      await connection.query(`UPDATE ${s}.sessions SET owner = NULL WHERE owner = $1`, [this.lock]);
      await connection.query(`DELETE FROM ${s}.owners WHERE lock = $1`, [this.lock]);
    });
  }
}

/** SQL: true if the owner of the session `t` is alive; false without an owner. */
export function aliveIn(schema: string, leaseMs: number): string {
  return `EXISTS (SELECT 1 FROM ${schema}.owners o
    WHERE o.lock = t.owner AND o.seen > now() - ${Math.ceil(leaseMs)} * interval '1 millisecond')`;
}
