import type { SessionInfo, SessionStore } from '@cobbler/agent';

/** Most sessions that are asked for at a time. */
const pageLength = 1_000;

/** Every session of a store that stands like this. */
export async function sessionsThat(
  store: SessionStore,
  status: SessionInfo['status'],
): Promise<readonly SessionInfo[]> {
  const found: SessionInfo[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ limit: pageLength, ...(after !== undefined && { after }) });
    found.push(...page.sessions.filter((info) => info.status === status));
    after = page.next;
  } while (after !== undefined);
  return found;
}

/** What is told about a session that was made and in which nothing was said yet. */
export function emptySession(id: string): Record<string, unknown> {
  return { id, title: '', status: 'new', events: 0 };
}
