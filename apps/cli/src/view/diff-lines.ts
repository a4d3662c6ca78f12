import { visibleText } from '@cobbler/agent/events';
import { CodeLines, paintTokens, tokensBetween } from '../terminal/code-colors.ts';
import { visible } from '../terminal/escape.ts';
import type { Style } from '../terminal/style.ts';
import { clip, splitText } from '../terminal/text-width.ts';
import type { ChangedPart } from './changed-words.ts';
import { changedWords } from './changed-words.ts';

/** A longer diff has no colors of its language and no marked words, because finding them takes time. */
const maxColored = 500;

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
  const painters = paintersOf(shown, languageOf(diff), style);
  const rendered = shown.flatMap((line, index) => renderLine(line, digits, style, columns, painters[index]));
  const left = lines.length - shown.length;
  return left === 0 ? rendered : [...rendered, style.dim(moreLines(left))];
}

/** Formats a diff for a user who decides on it: nothing is cut, and every character is visible. */
export function wholeDiffLines(diff: string, style: Style, columns: number): string[] {
  const lines = parseDiff(visibleText(diff, 'diff'));
  const digits = Math.max(1, ...lines.slice(-1).map((line) => String(line?.number ?? '').length));
  const painters = paintersOf(lines, languageOf(diff), style);
  return lines.flatMap((line, index) => {
    if (line?.sign !== ' ') return renderLine(line, digits, style, columns, painters[index]);
    const text = shownText(line);
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
function renderLine(
  line: DiffLine | undefined,
  digits: number,
  style: Style,
  columns: number,
  paint: Painter | undefined,
): string[] {
  if (line === undefined) return [style.dim(`${' '.repeat(digits)} ${style.marks.ellipsis}`)];
  const text = shownText(line);
  const number = String(line.number).padStart(digits);
  const width = Math.max(8, columns - digits - 3);
  if (line.sign === ' ')
    return [style.dim(`${number}   ${clip(text, width, style.marks.ellipsis)}`.trimEnd())];
  const paintSign = line.sign === '+' ? style.green : style.red;
  let at = 0;
  return splitText(text, width).map((part, index) => {
    const from = at;
    at += part.length;
    const margin = index === 0 ? style.dim(number) : ' '.repeat(digits);
    const sign = paintSign(`${index === 0 ? line.sign : ' '} ${paint === undefined ? part : ''}`);
    return `${margin} ${sign}${paint?.(from, at) ?? ''}`;
  });
}

function shownText(line: DiffLine): string {
  return visible(line.text).replaceAll('\t', '    ');
}

/** Returns a part of the text of a changed line in its colors. */
type Painter = (from: number, to: number) => string;

/** Returns what paints each changed line: the colors of the language, and the changed words of two versions of a line. */
function paintersOf(
  lines: readonly (DiffLine | undefined)[],
  language: string | undefined,
  style: Style,
): (Painter | undefined)[] {
  if (!style.color || lines.length > maxColored) return [];
  const reader = () => CodeLines.of(language, style);
  let code = { '+': reader(), '-': reader() };
  const changed = changesOf(lines);
  return lines.map((line) => {
    if (line === undefined) {
      code = { '+': reader(), '-': reader() };
      return undefined;
    }
    const text = shownText(line);
    if (line.sign === ' ') {
      for (const lines of Object.values(code)) lines?.next(text);
      return undefined;
    }
    const tokens = code[line.sign]?.next(text) ?? [{ text }];
    const paint = line.sign === '+' ? style.green : style.red;
    const painted = (from: number, to: number) => paintTokens(tokensBetween(tokens, from, to), style, paint);
    const [begin, end] = changed.get(line) ?? [0, 0];
    return (from, to) => {
      const within = (place: number) => Math.min(to, Math.max(from, place));
      const [first, last] = [within(begin), within(end)];
      const marked = style.underline(style.bold(painted(first, last)));
      return painted(from, first) + marked + painted(last, to);
    };
  });
}

/** Returns the changed parts of lines that replace each other: the first removed line and the first added one, and so on. */
function changesOf(lines: readonly (DiffLine | undefined)[]): Map<DiffLine, ChangedPart> {
  const changed = new Map<DiffLine, ChangedPart>();
  let removed: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (line?.sign === '-') removed = lines[index - 1]?.sign === '-' ? [...removed, line] : [line];
    else if (line?.sign !== '+') removed = [];
    else {
      const other = removed.shift();
      const parts = other && changedWords(shownText(other), shownText(line));
      if (other === undefined || parts === undefined) continue;
      changed.set(other, parts[0]);
      changed.set(line, parts[1]);
    }
  }
  return changed;
}

/** Returns the path of the file that a diff changes. */
export function diffPath(diff: string): string | undefined {
  const path = /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(diff)?.[1];
  return path === '/dev/null' ? /^--- (?:a\/)?([^\t\n]+)/m.exec(diff)?.[1] : path;
}

/** Returns what names the language of a diff: the extension of its file, or the name of one without. */
function languageOf(diff: string): string | undefined {
  return /[^./]+$/.exec(diffPath(diff) ?? '')?.[0].toLowerCase();
}
