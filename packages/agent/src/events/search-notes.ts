import { withArgumentErrors } from '../values/errors.ts';
import type { AssistantPart, Source } from '../values/stored-values.ts';

/**
 * Returns what users see of the web searches in the parts of a response: a line for each search and each failure, and the
 * cited pages without repetitions, only those with an http or https address. All texts come from the service.
 */
export function searchNotes(parts: readonly AssistantPart[]): { lines: string[]; sources: Source[] } {
  return withArgumentErrors('searchNotes', () => {
    const lines: string[] = [];
    const sources = new Map<string, Source>();
    for (const part of parts) {
      if (part.type !== 'opaque') continue;
      if (part.searched !== undefined) lines.push(`searched: ${part.searched}`);
      if (part.problem !== undefined) lines.push(`search failed: ${part.problem}`);
      for (const source of part.sources ?? []) {
        // The address as it is sent, with the name of the host as in DNS.
        const { protocol = '', href: url = '' } = URL.parse(source.url) ?? {};
        if (/^https?:$/.test(protocol) && !sources.has(url)) sources.set(url, { ...source, url });
      }
    }
    return { lines, sources: [...sources.values()] };
  });
}

/** Returns true if the provider searched the web for a response, so that its text depends on what other people wrote. */
export function hasSearched(parts: readonly AssistantPart[]): boolean {
  return withArgumentErrors('hasSearched', () =>
    parts.some((part) => part.type === 'opaque' && part.searched !== undefined),
  );
}
