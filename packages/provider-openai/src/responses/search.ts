import type { Source } from '@cobbler/agent';
import type { BlockKey, ResponseSink, Shown } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { Fields } from '../fields.ts';
import { fieldsOf, objectsIn, textIn } from '../fields.ts';

/** Returns true for the type of an item that describes a web search, or a page that the search opened. */
export function isSearch(type: unknown): boolean {
  return type === 'web_search_call';
}

/** Returns what users see of a search item: the query, or the address of the page that was opened. */
export function shownSearch({ type, action, status }: Fields): Shown | undefined {
  if (!isSearch(type)) return undefined;
  const done = fieldsOf(action);
  const queries = Array.isArray(done['queries']) ? done['queries'].map(String).join(', ') : '';
  const searched = queries || textIn(done, 'query') || textIn(done, 'url');
  return { searched, ...(status === 'failed' && { problem: status }) };
}

/** Returns the number of searches that are charged; without it, the number of those in the output. */
export function searchCount(response: Fields, output: readonly Fields[]): number {
  const { num_requests: charged } = fieldsOf(fieldsOf(response['tool_usage'])['web_search']);
  if (typeof charged === 'number') return charged;
  return output.filter(({ type, action }) => isSearch(type) && fieldsOf(action)['type'] === 'search').length;
}

/** Stores the sources of a message, which users see after its text. */
export function sealSources(message: Fields, key: BlockKey, out: ResponseSink): void {
  const cited = objectsIn(message, 'content').flatMap((part) => objectsIn(part, 'annotations'));
  const sources = cited.flatMap((citation): Source[] => {
    const url = textIn(citation, 'url');
    return url === '' ? [] : [{ url, ...defined({ title: textIn(citation, 'title') || undefined }) }];
  });
  if (sources.length > 0) out.seal(`${key}:sources`, { type: 'sources' }, { sources });
}
