import { visibleText } from '@cobbler/agent/events';
import { visible } from '../terminal/escape.ts';
import type { Style } from '../terminal/style.ts';
import { clip, head, widthOf } from '../terminal/text-width.ts';

/** One line of a unified diff. */
export interface DiffLine {
  readonly sign: '+' | '-' | ' ';
  /** The line number in the new file, or in the old one for a removed line. */
  readonly number: number;
  readonly text: string;
}

/** The changes of a unified diff. */
export interface DiffSize {
  readonly added: number;
  readonly removed: number;
}

/** Parses the hunks of a unified diff of one file; `undefined` separates hunks. */
export function parseDiff(diff: string): (DiffLine | undefined)[] {
  const lines: (DiffLine | undefined)[] = [];
  let old: number | undefined;
  let fresh = 0;
  for (const line of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk !== null) {
      if (lines.length > 0) lines.push(undefined);
      old = Number(hunk[1]);
      fresh = Number(hunk[2]);
    } else if (old !== undefined) {
      const sign = line[0];
      const text = line.slice(1);
      if (sign === '-') lines.push({ sign, number: old++, text });
      else if (sign === '+') lines.push({ sign, number: fresh++, text });
      else if (sign === ' ') {
        lines.push({ sign, number: fresh++, text });
        old += 1;
      } else if (line !== '' && sign !== '\\') lines.push({ sign: ' ', number: fresh, text: line });
    }
  }
  return lines;
}

/** Counts the lines that a unified diff adds and removes. */
export function diffSize(diff: string): DiffSize {
  const lines = parseDiff(diff);
  const count = (sign: DiffLine['sign']) => lines.filter((line) => line?.sign === sign).length;
  return { added: count('+'), removed: count('-') };
}

/** Formats a diff as lines with numbers, signs and text, cut to the width. Beyond `maxLines`, lines are only counted. */
export function diffLines(diff: string, style: Style, columns: number, maxLines?: number): string[] {
  const lines = parseDiff(diff);
  const shown = maxLines !== undefined && lines.length > maxLines ? lines.slice(0, maxLines) : lines;
  const digits = Math.max(1, ...shown.map((line) => String(line?.number ?? '').length));
  const rendered = shown.flatMap((line) => renderLine(line, digits, style, columns));
  const left = lines.length - shown.length;
  return left === 0 ? rendered : [...rendered, style.dim(moreLines(left))];
}

/** Formats a diff for a user who decides on it: nothing is cut, and every character is visible. */
export function wholeDiffLines(diff: string, style: Style, columns: number): string[] {
  const lines = parseDiff(visibleText(diff, 'diff'));
  const digits = Math.max(1, ...lines.slice(-1).map((line) => String(line?.number ?? '').length));
  return lines.flatMap((line) => {
    if (line?.sign !== ' ') return renderLine(line, digits, style, columns);
    const text = line.text.replaceAll('\t', '    ');
    return splitText(text, Math.max(8, columns - digits - 3)).map((part, index) =>
      style.dim(`${String(index === 0 ? line.number : '').padStart(digits)}   ${part}`),
    );
  });
}

/** Returns the notice with the number of hidden lines. */
export function moreLines(count: number): string {
  return `+ ${count} line${count === 1 ? '' : 's'}`;
}

/** Formats a line. A changed line is never cut, because the change may be at its end; a context line may be cut. */
function renderLine(line: DiffLine | undefined, digits: number, style: Style, columns: number): string[] {
  if (line === undefined) return [style.dim(`${' '.repeat(digits)} ${style.marks.ellipsis}`)];
  const text = visible(line.text).replaceAll('\t', '    ');
  const number = String(line.number).padStart(digits);
  const width = Math.max(8, columns - digits - 3);
  if (line.sign === ' ')
    return [style.dim(`${number}   ${clip(text, width, style.marks.ellipsis)}`.trimEnd())];
  const paint = line.sign === '+' ? style.green : style.red;
  return splitText(text, width).map((part, index) => {
    const margin = index === 0 ? style.dim(number) : ' '.repeat(digits);
    return `${margin} ${paint(`${index === 0 ? line.sign : ' '} ${part}`)}`;
  });
}

/** Splits a string into parts of at most `width` cells. */
export function splitText(text: string, width: number): string[] {
  const found: string[] = [];
  // Measure only as much of a long line as one part can hold.
  const maxUnits = width * 4;
  let at = 0;
  while (text.length - at > maxUnits || widthOf(text.slice(at)) > width) {
    const part = head(text.slice(at, at + maxUnits), width) || text.slice(at, at + 1);
    found.push(part);
    at += part.length;
  }
  return [...found, text.slice(at)];
}
