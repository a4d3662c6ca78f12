/** A part of a line, from one position to before another. */
export type Range = readonly [from: number, to: number];

/** More words are not compared, because the time grows with their product. */
const maxProduct = 40_000;

/** Lines with less in common than this share of their characters, blanks aside, are not versions of one line. */
const minCommon = 0.4;

/** Returns where two versions of a line differ, in words; nothing if they have too little in common. */
export function changedWords(before: string, after: string): readonly [Range[], Range[]] {
  const old = wordsOf(before);
  const fresh = wordsOf(after);
  if (old.length * fresh.length > maxProduct) return [[], []];
  const { keptOld, keptFresh, common } = commonWords(old, fresh);
  const size = Math.max(...[before, after].map((text) => text.replaceAll(/\s/g, '').length));
  if (common < size * minCommon) return [[], []];
  return [rangesOf(old, keptOld), rangesOf(fresh, keptFresh)];
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
}

/** Finds the longest common sequence of words, and counts its characters that are not blank. */
function commonWords(old: readonly string[], fresh: readonly string[]) {
  const columns = fresh.length + 1;
  const lengths = new Uint16Array((old.length + 1) * columns);
  const at = (row: number, column: number) => lengths[row * columns + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = fresh.length - 1; column >= 0; column -= 1)
      lengths[row * columns + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const keptOld = new Set<number>();
  const keptFresh = new Set<number>();
  let common = 0;
  for (let row = 0, column = 0; row < old.length && column < fresh.length; ) {
    if (old[row] === fresh[column]) {
      common += old[row]?.trim().length ?? 0;
      keptOld.add(row++);
      keptFresh.add(column++);
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return { keptOld, keptFresh, common };
}

/** Returns the ranges of the words that were not kept, joined over single blanks. */
function rangesOf(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const ranges: Range[] = [];
  let position = 0;
  for (const [index, word] of words.entries()) {
    const last = ranges.at(-1);
    const end = position + word.length;
    if (!kept.has(index)) {
      const isNext = last !== undefined && position - last[1] <= 1 && (words[index - 1] ?? '').trim() === '';
      const isAdjacent = last?.[1] === position;
      if (last !== undefined && (isAdjacent || isNext)) ranges[ranges.length - 1] = [last[0], end];
      else ranges.push([position, end]);
    }
    position = end;
  }
  return ranges;
}
