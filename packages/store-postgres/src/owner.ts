import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database } from './database.ts';

/** A process that has runs under way, as it is known to others. */
export interface OwnerRow {
  readonly lock: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/** Beats within the time after which a process that is silent counts as dead. */
const beats = 4;

/** After so many times that long the row of a dead process is cleared away. */
const kept = 100;

/**
 * This process towards others that use the same database: it counts as alive for as long as it is heard of. One that
 * was silent for too long, however alive, loses its sessions to whoever claims them; epochs keep it from writing.
 */
export class Owner {
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

  /** Gives back all that this process holds. */
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

/** Whether the owner of the session `t` is alive, in SQL: nobody is none. */
export function aliveIn(schema: string, leaseMs: number): string {
  return `EXISTS (SELECT 1 FROM ${schema}.owners o
    WHERE o.lock = t.owner AND o.seen > now() - ${Math.ceil(leaseMs)} * interval '1 millisecond')`;
}
