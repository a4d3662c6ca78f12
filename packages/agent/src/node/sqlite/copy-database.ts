import { closeSync, openSync, readSync } from 'node:fs';
import { AgentError } from '../../values/errors.ts';
import { read, text } from '../../values/input.ts';
import { storeError } from './database-error.ts';
import { schemaVersion } from './database-file.ts';
import { scalar, sqlite } from './engine.ts';

/** Facts about a database, from its header. */
export interface DatabaseFacts {
  readonly applicationId: number;
  /** Version of its schema. */
  readonly format: number;
}

/** Maximum time to wait for a process that has locked the database, in milliseconds. */
const copyWaitMs = 10_000;

/**
 * Copies a database as of one moment, without blocking processes that write to it. The copy is a separate file with all
 * committed data, is checked, and is accessible only to its owner.
 * @param to a file that does not exist
 * @throws AgentError with a code of `sqliteStore`, or `store_damaged` if the copy fails SQLite's own check.
 */
export function copyDatabase(from: string, to: string): DatabaseFacts {
  const { DatabaseSync } = sqlite();
  read(from, text, 'from');
  read(to, text, 'to');
  try {
    // SQLite copies into an empty file and keeps its permissions.
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
      if (found !== 'ok') throw damagedError(from, String(found));
      return { applicationId: Number(scalar(copy, 'PRAGMA application_id')), format: schemaVersion(copy) };
    } finally {
      copy.close();
    }
  } catch (error) {
    throw storeError(error, from);
  }
}

function damagedError(file: string, found: string): AgentError {
  const message = `${file} is damaged (${found}); use the last good backup.`;
  return new AgentError({ kind: 'invalid', code: 'store_damaged', message });
}

const magic = 'SQLite format 3\0';

/** Returns whether a file is a database. Not for a file that this process has open: closing it would release SQLite's locks. */
export function isDatabase(file: string): boolean {
  try {
    const start = Buffer.alloc(magic.length);
    const descriptor = openSync(read(file, text, 'file'), 'r');
    try {
      return readSync(descriptor, start) === magic.length && start.toString('latin1') === magic;
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    throw storeError(thrown, file, 'data');
  }
}
