import type { Style } from './style.ts';
import { padEnd, widthOf } from './text-width.ts';

/** Returns a table as lines: dimmed titles, then the rows, in columns as wide as their widest cell. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  style: Pick<Style, 'dim'>,
): string[] {
  const lines = [titles, ...rows];
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  const text = (line: readonly string[]) =>
    line
      .map((cell, column) => padEnd(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return lines.map((line, index) => (index === 0 ? style.dim(text(line)) : text(line)));
}
