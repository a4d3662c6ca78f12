// Loaded with the first block of code: see prose.tsx.
import hljs from 'highlight.js/lib/common';

/** Maximum number of characters of a block that is colored, because more would delay the page. */
const maxCharacters = 50_000;

/** Returns code as HTML with a class for each kind of token; undefined for an unknown language and for long code. */
export function highlighted(code: string, language: string): string | undefined {
  if (code.length > maxCharacters || hljs.getLanguage(language) === undefined) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
