/** A page of the documentation. */
export interface DocsPage {
  /** The name of its file without the extension. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** A part of a page that matches. */
export interface DocsMatch {
  readonly page: string;
  readonly title: string;
  /** The nearest heading above the passage. */
  readonly heading: string;
  readonly passage: string;
}

/** How much a word counts in a heading and in the title of the page, compared with the text. */
const inHeading = 3;
const inTitle = 2;
/** Length of a section, in characters, that halves what its text counts. */
const longText = 4000;
const maxPassage = 700;

/** Words of a question that say nothing about its topic. */
const ignored = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or the to what when with'.split(' '),
);

/** Returns the sections that match, the best first. Rare words count most, and sections with all words come first. */
export function searchDocs(pages: readonly DocsPage[], query: string, limit: number): DocsMatch[] {
  const given = query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? [];
  const words = given.filter((word) => !ignored.has(word)).map(wordPattern);
  const sections = pages.flatMap((page) => sectionsOf(page).map((section) => ({ page, ...section })));
  const rows = sections.map(({ page, heading, text }) => ({
    ...{ page, heading, text },
    counts: words.map((word) => ({
      text: count(text, word),
      extra: (count(heading, word) > 0 ? inHeading : 0) + (count(page.title, word) > 0 ? inTitle : 0),
    })),
  }));
  const weights = words.map((_, at) => {
    const found = rows.filter(({ counts }) => (counts[at]?.text ?? 0) > 0).length;
    return Math.log(1 + rows.length / (found + 1));
  });
  const all = sum(weights);
  const scored = rows.map((row) => {
    const scores = row.counts.map(({ text, extra }, at) => {
      const inText = text === 0 ? 0 : (1 + Math.log(text)) / (1 + row.text.length / longText);
      return (weights[at] ?? 0) * (inText + extra);
    });
    const covered = sum(weights.filter((_, at) => (scores[at] ?? 0) > 0)) / all;
    return { ...row, score: sum(scores) * covered ** 3 };
  });
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return best.slice(0, limit).map(({ page, heading, text }) => ({
    ...{ page: page.name, title: page.title, heading, passage: passageOf(text, words, weights) },
  }));
}

/** Returns a pattern for a word. A longer one also finds words that start with it, and a plural finds the singular. */
function wordPattern(word: string): RegExp {
  const [letter, isLong] = ['[\\p{L}\\p{N}]', word.length > 3];
  const stem = (isLong ? word.replace(/s$/, '') : word).replaceAll('.', '\\.');
  return new RegExp(`(?<!${letter})${stem}${isLong ? '' : `(?!${letter})`}`, 'giu');
}

function count(text: string, word: RegExp): number {
  return text.match(word)?.length ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Separates a page at its headings. A line in a code block is no heading. */
function sectionsOf({ title, text }: DocsPage): { readonly heading: string; readonly text: string }[] {
  const sections = [{ heading: title, lines: [] as string[] }];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,4} (.+)$/.exec(line)?.[1];
    if (heading === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ heading, lines: [] });
  }
  const texts = sections.map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }));
  return texts.filter(({ text }) => text !== '');
}

/** Returns the paragraph that says most about the words; of a table, the rows that do. */
function passageOf(text: string, words: readonly RegExp[], weights: readonly number[]): string {
  const score = (part: string) =>
    sum(words.map((word, at) => (count(part, word) > 0 ? (weights[at] ?? 0) : 0)));
  const best = (parts: readonly string[]) =>
    parts.reduce((found, part) => (score(part) > score(found) ? part : found), parts[0] ?? '');
  const block = best(text.split(/\n{2,}/));
  const rows = block.split('\n');
  const passage = block.startsWith('|') ? best(rows.slice(2)) : block;
  return passage.length > maxPassage ? `${passage.slice(0, maxPassage).toWellFormed()}…` : passage;
}
