import type { SessionInfo, SessionStore } from '@cobbler/agent';
import type { SearchHit, SearchPage, SearchQuery } from '@cobbler/agent/store';
import { defined } from '@cobbler/agent/values';
import { maxPages } from './session-index.ts';

/** A message that a search has found. */
export interface FoundMessage extends SearchHit {
  /** The title of its session. */
  readonly title: string;
}

/** A page of found messages. */
export interface FoundMessages extends Omit<SearchPage, 'hits'> {
  readonly items: readonly FoundMessage[];
}

/**
 * Searches the messages of the sessions that may be listed, in at most some pages of the store. Returns undefined if the
 * store has no search.
 */
export async function searchMessages(
  store: SessionStore,
  { words, limit, after }: SearchQuery & { readonly limit: number },
  mayList: (info: SessionInfo) => Promise<boolean>,
): Promise<FoundMessages | undefined> {
  if (store.search === undefined) return undefined;
  const listed = new Map<string, SessionInfo | undefined>();
  const items: FoundMessage[] = [];
  let next = after;
  for (let pages = 1; ; pages += 1) {
    const page = await store.search({ words, limit: limit - items.length, ...defined({ after: next }) });
    for (const hit of page.hits) {
      const id = hit.sessionId;
      if (!listed.has(id)) {
        const info = await store.info(id);
        listed.set(id, info !== undefined && (await mayList(info)) ? info : undefined);
      }
      const info = listed.get(id);
      if (info !== undefined) items.push({ ...hit, title: info.title });
    }
    ({ next } = page);
    if (next === undefined || items.length >= limit || pages === maxPages)
      return { items, isComplete: page.isComplete, ...defined({ next }) };
  }
}
