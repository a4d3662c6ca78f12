import { withArgumentErrors } from '../values/errors.ts';
import type { AssistantPart, Source } from '../values/stored-values.ts';

/** What users see of the web searches of a response. */
export interface SearchNotes {
  /** One line for each search and each failure. The text is the model's and the provider's. */
  readonly lines: readonly string[];
  /** The cited pages without repetitions, only those with an http or https address. */
  readonly sources: readonly Source[];
}

/** Returns what users see of the web searches in the parts of a response. */
export function searchNotes(parts: readonly AssistantPart[]): SearchNotes {
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
