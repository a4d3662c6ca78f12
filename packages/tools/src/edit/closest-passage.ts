/** The passage of a file that is most like the one that was looked for. */
export interface ClosestPassage {
  /** Number of its first line, from 1. */
  readonly line: number;
  readonly passage: string;
  /** True when only spaces, tabs and line breaks differ. */
  readonly onlySpace: boolean;
}

/** An error has to stay quick and short. */
const maxFileLines = 50_000;
const maxPassageLines = 200;
const maxShownLines = 12;
const maxShownCharacters = 2000;
const maxComparedCharacters = 300;
/** Below this share of common letter pairs two lines have nothing to do with each other. */
const minSimilarity = 0.5;

/**
 * Finds what the author of a wrong `old_text` most likely meant: the place where most of its lines stand,
 * white space aside, or else the line most like its first.
 */
export function closestPassage(text: string, wanted: string): ClosestPassage | undefined {
  const lines = text.split(/\r?\n/).slice(0, maxFileLines);
  const looked = wanted.split(/\r?\n/);
  const first = looked.findIndex((line) => line.trim() !== '');
  if (first < 0) return undefined;
  const passage = looked.slice(first, first + maxPassageLines);
  while (passage.at(-1)?.trim() === '') passage.pop();
  const at = placeOfMost(lines, passage) ?? placeOfMostAlike(lines, passage[0] ?? '');
  if (at === undefined) return undefined;
  const shown = lines.slice(at, at + Math.min(passage.length, maxShownLines));
  const whole = lines.slice(at, at + passage.length);
  return {
    line: at + 1,
    passage: shown.join('\n').slice(0, maxShownCharacters),
    onlySpace: withoutSpace(whole.join('')) === withoutSpace(passage.join('')),
  };
}

/** The longest match of the passage's lines in order, from a line that matches. */
function placeOfMost(lines: readonly string[], passage: readonly string[]): number | undefined {
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
  // One short line in common, such as a bracket, says nothing.
  const isTelling = best !== undefined && ((votes.get(best) ?? 0) > 1 || (wanted[0]?.length ?? 0) > 3);
  return isTelling ? best : undefined;
}

function placeOfMostAlike(lines: readonly string[], wanted: string): number | undefined {
  const pairs = pairsOf(wanted);
  let best: number | undefined;
  let most = minSimilarity;
  for (const [index, line] of lines.entries()) {
    const likeness = alike(pairs, pairsOf(line));
    if (likeness > most) {
      most = likeness;
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

/** Twice the common pairs over all pairs (Dice): 1 for equal sets, 0 for nothing in common. */
function alike(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size + right.size === 0) return 0;
  let common = 0;
  for (const pair of left) if (right.has(pair)) common += 1;
  return (2 * common) / (left.size + right.size);
}
