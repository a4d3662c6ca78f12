import type { Style } from './style.ts';
import { padEnd, widthOf } from './text-width.ts';

/** The lines of a Markdown table with aligned columns; as they are when they would not fit the terminal. */
export function renderTable(lines: readonly string[], style: Style, columns: number): string {
  const asGiven = lines.map((line) => `${line}\n`).join('');
  const rows = lines.map(cellsOf);
  const separator = rows[1];
  if (rows[0] === undefined || separator === undefined || !separator.every((cell) => /^:?-+:?$/.test(cell))) {
    return asGiven;
  }
  const body = [rows[0], ...rows.slice(2)].map((row) => row.map((cell) => withoutSigns(cell, style)));
  const widths = rows[0].map((_, column) => Math.max(3, ...body.map((row) => widthOf(row[column] ?? ''))));
  const total = widths.reduce((sum, width) => sum + width + 2, 0);
  if (total >= columns) return asGiven;
  const text = (row: readonly string[]) =>
    widths
      .map((width, column) => padEnd(row[column] ?? '', width))
      .join('  ')
      .trimEnd();
  const [header = [], ...others] = body;
  const rule = widths.map((width) => (style.color ? '─' : '-').repeat(width)).join('  ');
  return [style.bold(text(header)), style.dim(rule), ...others.map(text)].map((line) => `${line}\n`).join('');
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function withoutSigns(cell: string, style: Style): string {
  return style.color ? cell.replaceAll(/\*\*|`/g, '') : cell;
}
