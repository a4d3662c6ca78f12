/** Number of characters before the first match, and of the whole snippet. */
const lead = 40;
const length = 160;

/** Maximum number of words of a search. */
const maxWords = 16;

/** Returns the words of a search, separated as the index separates them. */
export function wordsOf(text: string): readonly string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, maxWords);
}

/** Returns the part of a text around the first match: its pieces in order, of which every second one is a match. */
export function snippetOf(text: string, words: readonly string[]): readonly string[] {
  // Longer words first: of two alternatives that match, the first one counts.
  const longest = [...words].sort((one, other) => other.length - one.length).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${longest})`, 'giu');
  const first = Math.max(0, text.search(pattern));
  const start = first <= lead ? 0 : first - lead;
  const part = text
    .slice(start, start + length)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ');
  const [head = '', ...rest] = part.split(pattern);
  return [`${start > 0 ? '…' : ''}${head}`, ...rest];
}
