import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isBusy } from './database-error.ts';
import { sqlite } from './engine.ts';

/** A process that has runs under way, as it is known to others. */
export interface OwnerRow {
  /** Name of its lock file, which lies beside the database. */
  readonly lock: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/**
 * This process towards others that use the same database: it lives as long as it holds the lock of a file of its
 * own. The system gives the lock back when the process ends, however it ends, and never before; a process id could
 * meanwhile be another's, and means nothing in another container.
 */
export class Owner {
  readonly row: OwnerRow;
  readonly #held: DatabaseSync;
  readonly #path: string;

  /** @throws the system's or SQLite's error when the lock file cannot be made. */
  static begin(file: string): Owner {
    try {
      return new Owner(file);
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Another process was just checking whether it is held.
      return new Owner(file);
    }
  }

  private constructor(file: string) {
    this.row = {
      lock: `${basename(file)}${infix}${randomUUID().slice(0, 13)}`,
      pid: process.pid,
      host: hostname(),
      since: Date.now(),
    };
    this.#path = join(dirname(file), this.row.lock);
    closeSync(openSync(this.#path, 'wx', 0o600));
    this.#held = locked(this.#path);
    living.add(this);
  }

  close(): void {
    living.delete(this);
    this.#held.close();
    rmSync(this.#path, { force: true });
  }
}

/** An unreferenced file is closed by the garbage collector, and its lock would be given back before its time. */
const living: Set<Owner> = new Set();

/** Whether the process behind a lock file is alive. */
export function isAlive(file: string, lock: string): boolean {
  const path = pathOf(file, lock);
  return path !== undefined && existsSync(path) && !isFree(path, () => {});
}

/** Removes the lock file of a process that has died. False: it is alive. */
export function buried(file: string, lock: string): boolean {
  const path = pathOf(file, lock);
  if (path === undefined || !existsSync(path)) return true;
  // While it is locked here no other process can claim it.
  return isFree(path, () => rmSync(path, { force: true }));
}

/** The lock files beside a database. */
export function lockFiles(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}${infix}`));
}

const infix = '-owner-';

/** Where a lock file is; nothing for a name that is not one. */
function pathOf(file: string, lock: string): string | undefined {
  return basename(lock) === lock && lock.includes(infix) ? join(dirname(file), lock) : undefined;
}

/** Runs a function while no process can lock the file. False: it is held. */
function isFree(path: string, work: () => void): boolean {
  try {
    const held = locked(path);
    try {
      work();
    } finally {
      held.close();
    }
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Locks a file for as long as the connection is open. @throws SQLite's busy error when another holds it. */
function locked(path: string): DatabaseSync {
  const db = new (sqlite().DatabaseSync)(path, { timeout: 0 });
  try {
    // Nothing is ever written, so that the file stays empty and alone.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
