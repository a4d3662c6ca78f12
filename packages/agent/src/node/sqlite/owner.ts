import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isBusy } from './database-error.ts';
import { sqlite } from './engine.ts';

/** A process that works on runs, as other processes see it. */
export interface OwnerRow {
  /** Name of its lock file, which is next to the database. */
  readonly lock: string;
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

/**
 * Represents this process to others that use the same database: the process is alive as long as it holds the lock on
 * its own lock file. The system releases the lock when the process ends, never before. A process id would not be
 * enough: it can be reused, and has no meaning in another container.
 */
export class Owner {
  readonly row: OwnerRow;
  readonly #held: DatabaseSync;
  readonly #path: string;

  /** @throws the system's or SQLite's error if the lock file cannot be created. */
  static begin(file: string): Owner {
    try {
      return new Owner(file);
    } catch (error) {
      if (!isBusy(error)) throw error;
      // Another process was checking the lock at that moment.
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
    this.#held = lockFile(this.#path);
    living.add(this);
  }

  close(): void {
    living.delete(this);
    this.#held.close();
    rmSync(this.#path, { force: true });
  }
}

/** Keeps the owners referenced: the garbage collector would close an unreferenced file and release its lock too early. */
const living: Set<Owner> = new Set();

/** Returns whether the process behind a lock file is alive. */
export function isAlive(file: string, lock: string): boolean {
  const path = pathOf(file, lock);
  return path !== undefined && existsSync(path) && !isFree(path, () => {});
}

/** Removes the lock file of a dead process. Returns false if the process is alive. */
export function removeDeadLock(file: string, lock: string): boolean {
  const path = pathOf(file, lock);
  if (path === undefined || !existsSync(path)) return true;
  // While the file is locked here, no other process can claim it.
  return isFree(path, () => rmSync(path, { force: true }));
}

/** Returns the names of the lock files next to a database. */
export function lockFiles(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}${infix}`));
}

const infix = '-owner-';

/** Returns the path of a lock file, or undefined if the name is not that of a lock file. */
function pathOf(file: string, lock: string): string | undefined {
  return basename(lock) === lock && lock.includes(infix) ? join(dirname(file), lock) : undefined;
}

/** Runs a function while no other process can lock the file. Returns false if the file is locked. */
function isFree(path: string, work: () => void): boolean {
  try {
    const held = lockFile(path);
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

/** Locks a file as long as the connection is open. @throws SQLite's busy error if another process holds the lock. */
function lockFile(path: string): DatabaseSync {
  const db = new (sqlite().DatabaseSync)(path, { timeout: 0 });
  try {
    // Nothing is ever written, so the file stays empty and no other files are created.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
