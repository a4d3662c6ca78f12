import type { Report } from './report.ts';
import type { Row, Verdict } from './summary.ts';
import { digits, missedIn, rowsIn } from './summary.ts';

const heads = ['work', 'entrant', 'figure', 'x floor', 'peak MB', 'wall ms', 'sent/turn', 'budget'];

/** Formats the report for a terminal. */
export function textOf(report: Report): string {
  const rows = rowsIn(report);
  return [headingOf(report), '', tableOf(rows), '', outcomeOf(rows), ''].join('\n');
}

/** Formats the report for a page. */
export function markdownOf(report: Report): string {
  const rows = rowsIn(report);
  return [headingOf(report), '', markdownTable(rows), '', outcomeOf(rows, ['\n\n- ', '\n- ', ''])].join('\n');
}

function headingOf({ node, cores, day, rounds }: Report): string {
  return `${day}, Node ${node}, ${cores} cores, ${rounds} rounds.`;
}

function outcomeOf(rows: readonly Row[], [start, between, end] = [' ', '; ', '.']): string {
  const missed = missedIn(rows);
  const judged = rows.flatMap(({ verdicts }) => verdicts).length;
  if (judged === 0) return 'Nothing with a budget was measured.';
  if (missed.length === 0) return `All ${judged} budgets were met.`;
  return `${missed.length} of ${judged} budgets were not met:${start}${missed.join(between)}${end}`;
}

/** Formats the rows in columns. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [heads, ...cellsOf(rows)];
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

function markdownTable(rows: readonly Row[]): string {
  const rule = heads.map((_, column) => (isText(column) ? '---' : '--:'));
  return [heads, rule, ...cellsOf(rows)].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function cellsOf(rows: readonly Row[]): string[][] {
  return rows.map((row, index) => [
    rows[index - 1]?.work === row.work ? '' : row.work,
    row.entrant,
    `${digits(row.figure)} ${row.unit}${row.later === undefined ? '' : ` + ${digits(row.later)} later`}`,
    ifAny(row.timesFloor, digits),
    ifAny(row.megabytes, (megabytes) => megabytes.toFixed(0)),
    ifAny(row.wallMs, digits),
    ifAny(row.sentBytes, sizeText),
    verdictText(row.verdicts),
  ]);
}

function ifAny(value: number | undefined, text: (value: number) => string): string {
  return value === undefined ? '' : text(value);
}

/** Formats the budgets with their results. */
export function verdictText(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ bound, kept }) => `${bound} ${kept ? 'met' : 'NOT MET'}`).join(', ');
}

function sizeText(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${Math.round(bytes / 1000)} KB`;
}

/** Aligns names left and numbers right. */
function align(cell: string, width: number, column: number): string {
  return isText(column) ? cell.padEnd(width) : cell.padStart(width);
}

function isText(column: number): boolean {
  return column < 2 || column === heads.length - 1;
}
