import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { SessionNotes } from './session-metadata.ts';

/** The sessions of the command line, opened. */
export interface CliSessions {
  readonly store: SessionStore;
  readonly notes: SessionNotes;
  /** The file that holds them. */
  readonly file: string;
}

/**
 * The folder to keep things in; nothing where there is none. A home that is named is made, one that only follows from
 * the system's settings has to be there: a service without one is not to grow one.
 */
export function homeToKeep(env: Environment): string | undefined {
  const home = cobblerHome(env);
  if (home === undefined) return undefined;
  return env['COBBLER_HOME'] || existsSync(dirname(home)) ? home : undefined;
}

/** The file that sessions are kept in; nothing where nothing is kept. */
export function sessionFile(env: Environment): string | undefined {
  const home = homeToKeep(env);
  return home && join(home, 'sessions.db');
}

/** The file that what is typed in chats is kept in; nothing where sessions are not kept either. */
export function historyFile(env: Environment): string | undefined {
  const file = sessionFile(env);
  return file && join(dirname(file), 'chat-history.jsonl');
}

/**
 * Opens the store. SQLite is loaded here and not before.
 * @throws AgentError with one of the codes of `sqliteStore`, UsageError where there is no home.
 */
export async function openSessions(env: Environment): Promise<CliSessions> {
  const file = sessionFile(env);
  if (file === undefined) {
    throw new UsageError('There is no home directory to store sessions in.', 'Set it: COBBLER_HOME=DIR');
  }
  const { sqliteStore } = await import('@cobbler/agent/node');
  return { store: sqliteStore(file), notes: new SessionNotes(join(dirname(file), 'sessions')), file };
}
