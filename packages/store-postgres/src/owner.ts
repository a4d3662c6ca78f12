import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Database } from './database.ts';

/** A process with active runs, as stored in the database for other processes. */
export interface PostgresOwnerRow {
  readonly lock: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/** Number of heartbeats per lease time. A process without a heartbeat for one lease time counts as dead. */
const beats = 4;

/** Number of lease times after which the row of a dead process is deleted. */
const kept = 100;

/**
 * Registers this process as an owner in the database. It counts as alive while it updates its row. If it fails to do
 * so for too long, its sessions can be claimed by other processes, and their epochs prevent it from writing.
 */
export class PostgresOwner {
  readonly lock: string = randomUUID();
  readonly #db: Database;
  readonly #schema: string;
  readonly #leaseMs: number;
  #registration: Promise<void> | undefined;
  #beat: NodeJS.Timeout | undefined;

  constructor(db: Database, schema: string, leaseMs: number) {
    this.#db = db;
    this.#schema = schema;
    this.#leaseMs = leaseMs;
  }

  /** Registers this process, before its first claim. */
  begin(): Promise<void> {
    this.#registration ??= this.#begin().catch((error: unknown) => {
      this.#registration = undefined;
      throw error;
    });
    return this.#registration;
  }

  async #begin(): Promise<void> {
    await this.#say();
    const s = this.#schema;
    await this.#db.query(`DELETE FROM ${s}.owners WHERE seen < now() - $1 * interval '1 millisecond'`, [
      this.#leaseMs * kept,
    ]);
    this.#beat = setInterval(() => {
      // The next heartbeat may succeed. Until then other processes may consider this one dead, which is safe.
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

  /** Releases all sessions that this process holds. */
  async end(): Promise<void> {
    clearInterval(this.#beat);
    if (this.#registration === undefined) return;
    await this.#registration.catch(() => {});
    const s = this.#schema;
    await this.#db.transaction(async (connection) => {
      await connection.query(`UPDATE ${s}.sessions SET owner = NULL WHERE owner = $1`, [this.lock]);
      await connection.query(`DELETE FROM ${s}.owners WHERE lock = $1`, [this.lock]);
    });
  }
}

/** Returns an SQL condition: true if the owner of the session `t` is alive; false without an owner. */
export function aliveIn(schema: string, leaseMs: number): string {
  return `EXISTS (SELECT 1 FROM ${schema}.owners o
    WHERE o.lock = t.owner AND o.seen > now() - ${Math.ceil(leaseMs)} * interval '1 millisecond')`;
}
