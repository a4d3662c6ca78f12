import type { Row, Verdict } from './summary.ts';

const heads = ['work', 'entrant', 'ms', 'x floor', 'peak MB', 'wall ms', 'sent/turn', 'budget'];

/** The rows as text in columns. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row, index) => [
    rows[index - 1]?.work === row.work ? '' : row.work,
    row.entrant,
    digits(row.ms),
    digits(row.timesFloor),
    row.megabytes?.toFixed(0) ?? '',
    digits(row.wallMs),
    sizeOf(row.sentBytes),
    verdictText(row.verdicts),
  ]);
  const lines = [heads, ...cells];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => align(cell, widths[column] ?? 0, column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Budgets, each with whether it was kept. */
export function verdictText(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ bound, kept }) => `${bound} ${kept ? 'kept' : 'MISSED'}`).join(', ');
}

/** Three digits that count. */
export function digits(value: number | undefined): string {
  if (value === undefined) return '';
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

function sizeOf(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${Math.round(bytes / 1000)} KB`;
}

/** Names to the left, numbers to the right. */
function align(cell: string, width: number, column: number): string {
  return column < 2 || column === heads.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}
