import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { SessionNotes } from './session-metadata.ts';

/** The open session store of the command line. */
export interface CliSessions {
  readonly store: SessionStore;
  readonly notes: SessionNotes;
  readonly file: string;
}

/**
 * Returns the directory for stored data; undefined if there is none. A home directory set with COBBLER_HOME is
 * created; the default one must have an existing parent, so that a service without a home directory does not get one.
 */
export function homeToKeep(env: Environment): string | undefined {
  const home = cobblerHome(env);
  if (home === undefined) return undefined;
  return env['COBBLER_HOME'] || existsSync(dirname(home)) ? home : undefined;
}

/** Returns the session file; undefined if nothing is stored. */
export function sessionFile(env: Environment): string | undefined {
  const home = homeToKeep(env);
  return home && join(home, 'sessions.db');
}

/** Returns the file with the input history of chats; undefined if sessions are not stored either. */
export function historyFile(env: Environment): string | undefined {
  const file = sessionFile(env);
  return file && join(dirname(file), 'chat-history.jsonl');
}

/**
 * Opens the store. SQLite is loaded only here.
 * @throws AgentError with one of the codes of `sqliteStore`, UsageError without a home directory.
 */
export async function openSessions(env: Environment): Promise<CliSessions> {
  const file = sessionFile(env);
  if (file === undefined) throw UsageError.noHome('Sessions');
  const { sqliteStore } = await import('./sqlite-store.ts');
  return { store: sqliteStore(file), notes: openNotes(env), file };
}

/** Opens the notes of the sessions alone. @throws UsageError without a home directory. */
export function openNotes(env: Environment): SessionNotes {
  const home = homeToKeep(env);
  if (home === undefined) throw UsageError.noHome('Sessions');
  return new SessionNotes(join(home, 'sessions'));
}
