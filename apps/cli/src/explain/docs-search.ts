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

/** Returns the sections that match, the best first. Rare words count most, and sections with all words come first. */
export function searchDocs(pages: readonly DocsPage[], query: string, limit: number): DocsMatch[] {
  const words = (query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? []).map(wordStart);
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
    return Math.log((rows.length + 1) / (found + 1));
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

function wordStart(word: string): RegExp {
  // A plural also finds the singular.
  const stem = word.length > 3 ? word.replace(/s$/, '') : word;
  return new RegExp(`(?<![\\p{L}\\p{N}])${stem.replace(/[.-]/g, '\\$&')}`, 'giu');
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
  return sections.map(({ heading, lines }) => ({ heading, text: lines.join('\n').trim() }));
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
