import type { SessionInfo, SessionStore } from '@cobbler/agent';
import type { ListOptions, SessionPage } from '@cobbler/agent/store';
import { defined } from '@cobbler/agent/values';

/** Maximum number of sessions per request. */
const pageLength = 1_000;

/** Returns every session of a store that has events and one of these statuses. */
export async function sessionsWithStatus(
  store: SessionStore,
  status: SessionInfo['status'],
): Promise<readonly SessionInfo[]> {
  const all = await sessionsSince(store, 0);
  return all.filter((info) => info.events > 0 && info.status === status);
}

/** Returns the sessions in which a run started or ended since a time, in milliseconds since 1970; the last changed first. */
export async function sessionsSince(store: SessionStore, time: number): Promise<readonly SessionInfo[]> {
  const found: SessionInfo[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ limit: pageLength, ...defined({ after }) });
    const changed = page.sessions.filter(({ updatedAt }) => Date.parse(updatedAt) >= time);
    found.push(...changed);
    after = changed.length < page.sessions.length ? undefined : page.next;
  } while (after !== undefined);
  return found;
}

/** Maximum number of pages of the store that one request reads. */
export const maxPages = 20;

/** Returns the next sessions that may be listed: at most `limit`, and fewer after many other sessions. */
export async function listSessions(
  store: SessionStore,
  { limit, after }: ListOptions & { readonly limit: number },
  mayList: (info: SessionInfo) => Promise<boolean>,
): Promise<SessionPage> {
  const sessions: SessionInfo[] = [];
  let next = after;
  for (let pages = 1; ; pages += 1) {
    // Never more than are missing, so that the cursor is that of the last session returned.
    const page = await store.list({ limit: limit - sessions.length, ...defined({ after: next }) });
    for (const info of page.sessions) if (await mayList(info)) sessions.push(info);
    ({ next } = page);
    if (next === undefined || sessions.length >= limit || pages === maxPages)
      return { sessions, ...defined({ next }) };
  }
}

/** Returns a session as the API represents it, if it is in the store. A session without messages is new. */
export function sessionJson(id: string, info: SessionInfo | undefined): Record<string, unknown> {
  if (info === undefined) return { id, title: '', status: 'new', events: 0 };
  return info.events === 0 ? { ...info, status: 'new' } : { ...info };
}
