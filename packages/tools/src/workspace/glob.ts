/** Matches any sequence of values, including an empty one. */
const many: unique symbol = Symbol('many');

type PatternItem<Value> = typeof many | ((value: Value) => boolean);
type Segment = readonly PatternItem<string>[];

/** Maximum number of alternatives; a reasonable pattern has fewer. */
const maxAlternatives = 200;

/**
 * Compiles a glob pattern for paths with `/`: `*` and `?` within a name, `**` across directories, `[a-z]`, `{a,b}`,
 * and `\` to escape a character. A pattern without `/` matches the name in any directory. The time of a match is at
 * most proportional to the product of the two lengths, for any pattern.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern.replace(/^(\.?\/)+/, '')).map(compilePath);
  return (path) => {
    const names = path.split('/');
    return alternatives.some((items) => matches(items, names));
  };
}

function compilePath(pattern: string): PatternItem<string>[] {
  const segments = pattern.split('/').filter((segment) => segment !== '');
  const isAnywhere = !pattern.includes('/') && pattern !== '**';
  return [...(isAnywhere ? [many as typeof many] : []), ...segments.map(compileSegment)];
}

function compileSegment(segment: string): PatternItem<string> {
  if (segment === '**') return many;
  const items = parseSegment(segment);
  return (name) => matches(items, [...name]);
}

function parseSegment(segment: string): Segment {
  const items: PatternItem<string>[] = [];
  const letters = [...segment];
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at];
    if (letter === '*') {
      if (items.at(-1) !== many) items.push(many);
    } else if (letter === '?') {
      items.push(() => true);
    } else if (letter === '[') {
      const end = letters.indexOf(']', at + (letters[at + 1] === '!' || letters[at + 1] === '^' ? 3 : 2));
      if (end < 0) {
        items.push((value) => value === '[');
      } else {
        items.push(parseClass(letters.slice(at + 1, end)));
        at = end;
      }
    } else {
      if (letter === '\\' && at + 1 < letters.length) at += 1;
      const wanted = letters[at];
      items.push((value) => value === wanted);
    }
  }
  return items;
}

function parseClass(letters: readonly string[]): (value: string) => boolean {
  const isNegated = letters[0] === '!' || letters[0] === '^';
  const body = isNegated ? letters.slice(1) : letters;
  const ranges: [string, string][] = [];
  for (let at = 0; at < body.length; at += 1) {
    const from = body[at] ?? '';
    const to = body[at + 1] === '-' ? body[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return (value) => ranges.some(([from, to]) => value >= from && value <= to) !== isNegated;
}

/** Matches values with backtracking to the last `many` only, because an earlier one could not match more. */
function matches<Value>(items: readonly PatternItem<Value>[], values: readonly Value[]): boolean {
  let item = 0;
  let resume: { item: number; value: number } | undefined;
  for (let at = 0; at < values.length; ) {
    const current = items[item];
    if (current === many) {
      item += 1;
      resume = { item, value: at };
    } else if (current?.(values[at] as Value) === true) {
      item += 1;
      at += 1;
    } else if (resume !== undefined) {
      resume.value += 1;
      item = resume.item;
      at = resume.value;
    } else {
      return false;
    }
  }
  return items.slice(item).every((rest) => rest === many);
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next);
    if (group === undefined || done.length + open.length >= maxAlternatives) done.push(next);
    else for (const choice of group.choices) open.push(group.before + choice + group.after);
  }
  return done;
}

interface BraceGroup {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

/** Returns the first `{a,b}` group, split at the commas of its own level. */
function firstGroup(pattern: string): BraceGroup | undefined {
  let start = -1;
  let depth = 0;
  let part = 0;
  let choices: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const letter = pattern[at];
    if (letter === '\\') {
      at += 1;
    } else if (letter === '{') {
      if (depth === 0) {
        start = at;
        part = at + 1;
        choices = [];
      }
      depth += 1;
    } else if (depth === 1 && (letter === ',' || letter === '}')) {
      choices.push(pattern.slice(part, at));
      part = at + 1;
      if (letter === '}') depth = 0;
    } else if (letter === '}' && depth > 1) {
      depth -= 1;
    }
    if (depth === 0 && choices.length > 1) {
      return { before: pattern.slice(0, start), choices, after: pattern.slice(at + 1) };
    }
  }
  return undefined;
}
