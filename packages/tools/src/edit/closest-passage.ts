/** The passage of a file that is most similar to the requested one. */
export interface ClosestPassage {
  /** Number of its first line, starting at 1. */
  readonly line: number;
  readonly passage: string;
  /** True if only spaces, tabs and line breaks differ. */
  readonly onlySpace: boolean;
}

/** Limits that keep the error fast and short. */
const maxFileLines = 50_000;
const maxPassageLines = 200;
const maxShownLines = 12;
const maxShownCharacters = 2000;
const maxComparedCharacters = 300;
/** Minimum share of common letter pairs for two lines to count as similar. */
const minSimilarity = 0.5;

/**
 * Finds the passage that a wrong `old_text` most likely means: the position that matches most of its lines, ignoring
 * whitespace, otherwise the line most similar to its first line.
 */
export function closestPassage(text: string, wanted: string): ClosestPassage | undefined {
  const lines = text.split(/\r?\n/).slice(0, maxFileLines);
  const looked = wanted.split(/\r?\n/);
  const first = looked.findIndex((line) => line.trim() !== '');
  if (first < 0) return undefined;
  const passage = looked.slice(first, first + maxPassageLines);
  while (passage.at(-1)?.trim() === '') passage.pop();
  const at = positionOfMatch(lines, passage) ?? positionOfSimilar(lines, passage[0] ?? '');
  if (at === undefined) return undefined;
  const shown = lines.slice(at, at + Math.min(passage.length, maxShownLines));
  const whole = lines.slice(at, at + passage.length);
  return {
    line: at + 1,
    passage: shown.join('\n').slice(0, maxShownCharacters),
    onlySpace: withoutSpace(whole.join('')) === withoutSpace(passage.join('')),
  };
}

/** Returns where most lines of the passage match in order, starting with a matching line. */
function positionOfMatch(lines: readonly string[], passage: readonly string[]): number | undefined {
  const wanted = passage.map(withoutSpace);
  const votes = new Map<number, number>();
  const places = Map.groupBy(wanted.keys(), (index) => wanted[index] ?? '');
  for (const [index, line] of lines.entries()) {
    const key = withoutSpace(line);
    if (key === '') continue;
    for (const place of places.get(key) ?? []) votes.set(index - place, (votes.get(index - place) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [at, count] of votes) {
    if (at >= 0 && (best === undefined || count > (votes.get(best) ?? 0))) best = at;
  }
  // A single short line in common, such as a bracket, is not enough.
  const isTelling = best !== undefined && ((votes.get(best) ?? 0) > 1 || (wanted[0]?.length ?? 0) > 3);
  return isTelling ? best : undefined;
}

function positionOfSimilar(lines: readonly string[], wanted: string): number | undefined {
  const pairs = pairsOf(wanted);
  let best: number | undefined;
  let bestSimilarity = minSimilarity;
  for (const [index, line] of lines.entries()) {
    const likeness = similarity(pairs, pairsOf(line));
    if (likeness > bestSimilarity) {
      bestSimilarity = likeness;
      best = index;
    }
  }
  return best;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

function pairsOf(line: string): Set<string> {
  const text = withoutSpace(line).slice(0, maxComparedCharacters);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Returns the share of common pairs (Dice coefficient): 1 for equal sets, 0 for nothing in common. */
function similarity(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size + right.size === 0) return 0;
  let common = 0;
  for (const pair of left) if (right.has(pair)) common += 1;
  return (2 * common) / (left.size + right.size);
}
