import { closeSync, openSync, readSync } from 'node:fs';
import { AgentError } from '../../values/errors.ts';
import { storeError } from './database-error.ts';
import { scalar, sqlite } from './engine.ts';
import { schemaVersion } from './schema.ts';

/** What a database is, as its header says. */
export interface DatabaseFacts {
  readonly applicationId: number;
  /** The version of its schema. */
  readonly format: number;
}

/** How long a copy waits for a process that has locked the database, in milliseconds. */
const copyWaitMs = 10_000;

/**
 * Copies a database as it is at one moment, also while others write into it: they are not held up. The copy is a file
 * of its own that holds all that was committed, and was checked. It is made for its owner alone.
 * @param to a file that is not there
 * @throws AgentError with a code of `sqliteStore`, or `store_damaged` when the copy does not pass SQLite's own check.
 */
export function copyDatabase(from: string, to: string): DatabaseFacts {
  const { DatabaseSync } = sqlite();
  try {
    // SQLite takes an empty file as the place for a copy, and leaves its rights as they are.
    closeSync(openSync(to, 'wx', 0o600));
    const source = new DatabaseSync(from, { timeout: copyWaitMs });
    try {
      source.prepare('VACUUM INTO ?').run(to);
    } finally {
      source.close();
    }
    const copy = new DatabaseSync(to, { readOnly: true });
    try {
      const found = scalar(copy, 'PRAGMA quick_check(1)');
      if (found !== 'ok') throw damaged(from, String(found));
      return { applicationId: Number(scalar(copy, 'PRAGMA application_id')), format: schemaVersion(copy) };
    } finally {
      copy.close();
    }
  } catch (error) {
    throw storeError(error, from);
  }
}

function damaged(file: string, found: string): AgentError {
  const message = `${file} is damaged (${found}); take the last backup that was good.`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}

const magic = 'SQLite format 3\0';

/**
 * Whether a file is a database. Not for one that this process has open: to close it here would give up the locks that
 * SQLite has on it.
 */
export function isDatabase(file: string): boolean {
  const start = Buffer.alloc(magic.length);
  const descriptor = openSync(file, 'r');
  try {
    return readSync(descriptor, start) === magic.length && start.toString('latin1') === magic;
  } finally {
    closeSync(descriptor);
  }
}
