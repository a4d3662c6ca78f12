/** Lines with less in common than this share of their words are not versions of one line. */
const minCommon = 0.4;

/** The part of a line that changed, from one position to before another. */
export type ChangedPart = readonly [from: number, to: number];

/** Returns the part of two versions of a line that differs, in whole words; undefined if too little is the same. */
export function changedWords(before: string, after: string): [ChangedPart, ChangedPart] | undefined {
  const old = wordsOf(before);
  const fresh = wordsOf(after);
  const shortest = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shortest && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shortest - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const same = [...old.slice(0, start), ...old.slice(old.length - end)].filter((word) => word.trim() !== '');
  const all = Math.max(...[old, fresh].map((words) => words.filter((word) => word.trim() !== '').length));
  if (same.length < all * minCommon) return undefined;
  const from = old.slice(0, start).join('').length;
  const left = old.slice(old.length - end).join('').length;
  return [
    [from, before.length - left],
    [from, after.length - left],
  ];
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[\s\S]/gu) ?? [];
}
