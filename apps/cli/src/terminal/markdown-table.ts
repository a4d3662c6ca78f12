import type { Style } from './style.ts';
import { splitText, widthOf, wrap } from './text-width.ts';

/** Spaces between two columns, and the narrowest column. */
const gap = '  ';
const minWidth = 3;

/** Returns the lines of a Markdown table with aligned columns, whose cells are broken at spaces to fit the terminal. */
export function renderTable(lines: readonly string[], style: Style, columns: number): string {
  const [titles = [], rules = [], ...rows] = lines.map((line) => cellsOf(line, style));
  const isTable = rules.length > 0 && rules.every((cell) => /^:?-+:?$/.test(cell));
  const widths = isTable ? widthsFor([titles, ...rows], titles.length, columns - 1) : undefined;
  if (widths === undefined) return lines.map((line) => `${line}\n`).join('');
  const rule = style.dim(widths.map((width) => (style.color ? '─' : '-').repeat(width)).join(gap));
  const body = rows.map((cells) => rowLines(cells, widths, rules));
  // With cells of several lines, only a rule shows where a row ends.
  const isTall = body.some((row) => row.length > 1);
  const shown = body.flatMap((row, index) => (isTall && index > 0 ? [rule, ...row] : row));
  const head = rowLines(titles, widths, rules).map(style.bold);
  return [...head, rule, ...shown].map((line) => `${line}\n`).join('');
}

function cellsOf(line: string, style: Style): string[] {
  const inner = line.trim().replaceAll(/^\||(?<!\\)\|$/g, '');
  const text = style.color ? inner.replaceAll(/\*\*|~~|`/g, '') : inner;
  return text.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Returns the widths of the columns; undefined if there is no room for all. The widest become narrower until all fit. */
function widthsFor(rows: readonly (readonly string[])[], count: number, room: number): number[] | undefined {
  const free = room - (count - 1) * gap.length;
  if (count * minWidth > free) return undefined;
  const widths = Array.from({ length: count }, (_, column) =>
    Math.min(free, Math.max(minWidth, ...rows.map((cells) => widthOf(cells[column] ?? '')))),
  );
  for (let left = widths.reduce((sum, width) => sum + width, -free); left > 0; left -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function rowLines(cells: readonly string[], widths: readonly number[], rules: readonly string[]): string[] {
  const columns = widths.map((width, at) => {
    const lines = wrap(cells[at] ?? '', width).flatMap((line) => splitText(line, width));
    return lines.map((line) => aligned(line, width, rules[at] ?? ''));
  });
  const height = Math.max(...columns.map((column) => column.length));
  return Array.from({ length: height }, (_, row) =>
    widths
      .map((width, at) => columns[at]?.[row] ?? ' '.repeat(width))
      .join(gap)
      .trimEnd(),
  );
}

function aligned(text: string, width: number, rule: string): string {
  const room = width - widthOf(text);
  const before = rule.endsWith(':') ? (rule.startsWith(':') ? Math.floor(room / 2) : room) : 0;
  return ' '.repeat(before) + text + ' '.repeat(room - before);
}
