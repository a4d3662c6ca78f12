import type { StyledWord } from './inline-markdown.ts';
import { InlineStyle } from './inline-markdown.ts';
import type { Style } from './style.ts';
import { splitText, widthOf } from './text-width.ts';

/** Spaces between two columns, and the narrowest column. */
const gap = 2;
const minWidth = 3;

/** Returns the lines of a Markdown table with aligned columns, whose cells are broken at spaces to fit the terminal. */
export function renderTable(lines: readonly string[], style: Style, columns: number): string {
  const rows = lines.map(cellsOf);
  const [titles, separator] = rows;
  const widths =
    titles && separator?.every(isRule) ? fit(widthsOf(rows, titles.length, style), columns - 1) : undefined;
  if (titles === undefined || separator === undefined || widths === undefined)
    return lines.map((line) => `${line}\n`).join('');
  const draw = (cells: readonly string[], paint = (text: string) => text) =>
    rowLines(cells, widths, separator, style).map((line) => paint(line));
  const rule = style.dim(
    widths.map((width) => (style.color ? '─' : '-').repeat(width)).join(' '.repeat(gap)),
  );
  const body = rows.slice(2).map((cells) => draw(cells));
  // With cells of several lines, only a rule shows where a row ends.
  const isTall = body.some((row) => row.length > 1);
  const shown = body.flatMap((row, index) => (isTall && index > 0 ? [rule, ...row] : row));
  return [...draw(titles, style.bold), rule, ...shown].map((line) => `${line}\n`).join('');
}

function isRule(cell: string): boolean {
  return /^:?-+:?$/.test(cell);
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function widthsOf(rows: readonly (readonly string[])[], count: number, style: Style): number[] {
  const shown = [...rows.slice(0, 1), ...rows.slice(2)];
  return Array.from({ length: count }, (_, column) =>
    Math.max(minWidth, ...shown.map((cells) => cellWidth(wordsOf(cells[column] ?? '', style)))),
  );
}

function cellWidth(words: readonly StyledWord[]): number {
  return words.reduce((sum, { plain }) => sum + widthOf(plain) + 1, -1);
}

/** Takes cells from the widest columns until all fit; undefined if there is no room for every column. */
function fit(widths: number[], room: number): number[] | undefined {
  const free = room - (widths.length - 1) * gap;
  if (widths.length * minWidth > free) return undefined;
  for (let left = widths.reduce((sum, width) => sum + width, 0) - free; left > 0; left -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function rowLines(
  cells: readonly string[],
  widths: readonly number[],
  separator: readonly string[],
  style: Style,
): string[] {
  const columns = widths.map((width, at) => wrapCell(wordsOf(cells[at] ?? '', style), width));
  const height = Math.max(...columns.map((column) => column.length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((column, at) =>
        align(column[row] ?? { plain: '', styled: '' }, widths[at] ?? 0, separator[at] ?? ''),
      )
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}

function align({ plain, styled }: StyledWord, width: number, rule: string): string {
  const room = Math.max(0, width - widthOf(plain));
  const before = rule.endsWith(':') ? (rule.startsWith(':') ? Math.floor(room / 2) : room) : 0;
  return ' '.repeat(before) + styled + ' '.repeat(room - before);
}

function wordsOf(cell: string, style: Style): StyledWord[] {
  const inline = new InlineStyle(style);
  return (cell.match(/[^ \t]+/g) ?? []).map((word) => inline.word(word));
}

/** Breaks the words of a cell into lines. A word that is too long is broken too, without its style. */
function wrapCell(words: readonly StyledWord[], width: number): StyledWord[] {
  const lines: StyledWord[] = [];
  let line: StyledWord | undefined;
  const pieces = words.flatMap((word) =>
    widthOf(word.plain) <= width
      ? [word]
      : splitText(word.plain, width).map((part) => ({ plain: part, styled: part })),
  );
  for (const { plain, styled } of pieces) {
    if (line !== undefined && widthOf(line.plain) + 1 + widthOf(plain) <= width)
      line = { plain: `${line.plain} ${plain}`, styled: `${line.styled} ${styled}` };
    else {
      if (line !== undefined) lines.push(line);
      line = { plain, styled };
    }
  }
  return line === undefined ? lines : [...lines, line];
}
