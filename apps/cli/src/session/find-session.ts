import type { SessionInfo, SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { oneLine } from '../terminal/one-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { CliSessions } from './session-home.ts';

const maxNamed = 6;

/**
 * Returns the session with this id, or the only one whose id has this prefix.
 * @throws UsageError if there is none, or more than one.
 */
export async function findSession(store: SessionStore, given: string): Promise<SessionInfo> {
  const exact = await infoOf(store, given);
  if (exact !== undefined) return exact;
  const ids = given === '' ? [] : (await store.sessions()).filter((id) => id.startsWith(given));
  const [first, second] = ids;
  if (first === undefined) {
    throw UsageError.withCode(
      'no_session',
      `There is no session ${JSON.stringify(given)}.`,
      'List the sessions: cobbler sessions',
    );
  }
  if (second !== undefined) {
    const infos = await Promise.all(ids.slice(-maxNamed).map((id) => store.info(id)));
    const rows = infos.flatMap((info) => (info === undefined ? [] : [`${info.id}  ${oneLine(info.title)}`]));
    throw new UsageError(`The ids of ${ids.length} sessions start with ${JSON.stringify(given)}:`, ...rows);
  }
  const found = await store.info(first);
  if (found !== undefined) return found;
  throw UsageError.withCode(
    'no_session',
    `Session ${first} was just deleted.`,
    'List the sessions: cobbler sessions',
  );
}

/** Returns the session with an id; undefined for an invalid id. */
async function infoOf(store: SessionStore, id: string): Promise<SessionInfo | undefined> {
  try {
    return await store.info(id);
  } catch (error) {
    if (AgentError.is(error) && error.code === 'session_id') return undefined;
    throw error;
  }
}

/** Yields the sessions of a directory, or all sessions, last changed first. */
export async function* sessionsIn(
  { store, notes }: CliSessions,
  folder: string | undefined,
): AsyncGenerator<SessionInfo, void, undefined> {
  let after: string | undefined;
  do {
    const page = await store.list({ limit: 100, ...defined({ after }) });
    for (const info of page.sessions) {
      if (folder === undefined || notes.read(info.id)?.folder === folder) yield info;
    }
    after = page.next;
  } while (after !== undefined);
}

/** Returns the session of this directory that changed last. @throws UsageError if there is none. */
export async function newestSession(sessions: CliSessions, folder: string): Promise<SessionInfo> {
  for await (const info of sessionsIn(sessions, folder)) return info;
  throw new UsageError(
    `${folder} has no sessions.`,
    'List the sessions in all directories: cobbler sessions',
  );
}

/** Returns the part of an id that is displayed. */
export function shortId(sessionId: string): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(sessionId) ? sessionId.slice(0, 8) : sessionId;
}

/** Returns whether a session with this id is stored; false for a text that is not an id. */
export async function isStored(sessions: CliSessions | undefined, id: string): Promise<boolean> {
  return sessions !== undefined && (await infoOf(sessions.store, id)) !== undefined;
}
