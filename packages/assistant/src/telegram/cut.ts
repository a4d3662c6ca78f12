import type { TextRun } from './styled-text.ts';
import { isBlank, sliceRuns, visibleText } from './styled-text.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits text into parts of at most `limit` UTF-16 code units: between paragraphs if possible, otherwise between
 * lines, words or characters. A code block that fits in a part is not split. Only whitespace at the splits is lost.
 */
export function cutRuns(runs: readonly TextRun[], limit: number): TextRun[][] {
  const text = visibleText(runs);
  const blocks = codeBlocks(runs);
  const parts: TextRun[][] = [];
  let start = afterBlanks(text, 0, blocks);
  while (start < text.length) {
    const end = text.length - start <= limit ? text.length : bestCut(text, start, limit, blocks);
    const part = sliceRuns(runs, start, start + text.slice(start, end).trimEnd().length);
    if (!isBlank(visibleText(part))) parts.push(part);
    start = afterBlanks(text, end, blocks);
  }
  return parts;
}

function codeBlocks(runs: readonly TextRun[]): Range[] {
  const blocks: Range[] = [];
  let offset = 0;
  for (const { text, style } of runs) {
    if (style.pre !== undefined) blocks.push({ start: offset, end: offset + text.length });
    offset += text.length;
  }
  return blocks;
}

/** Skips whitespace, except at the start of lines in code. */
function afterBlanks(text: string, from: number, blocks: readonly Range[]): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) {
    if (within(at, blocks) !== undefined) return text.charAt(at) === '\n' && at === from ? at + 1 : at;
    if (blocks.some(({ start }) => start === at)) return at;
    at += 1;
  }
  return at;
}

/** Returns the code block that a split at this position would break. */
function within(at: number, blocks: readonly Range[]): Range | undefined {
  return blocks.find(({ start, end }) => start < at && at < end);
}

function bestCut(text: string, start: number, limit: number, blocks: readonly Range[]): number {
  const end = start + limit;
  const broken = within(end, blocks);
  if (broken !== undefined) {
    if (broken.start > start && broken.end - broken.start <= limit) return broken.start;
    const line = text.lastIndexOf('\n', end);
    if (line > Math.max(broken.start, start)) return line;
    return broken.start > start ? broken.start : betweenSigns(text, start, end);
  }
  // An early split would turn one long text into many short messages.
  const minEnd = start + limit / 4;
  for (const boundary of [/^\n\n/, /^\n/, /^\s/]) {
    const at = lastBoundary(text, boundary, minEnd, end, blocks);
    if (at !== undefined) return at;
  }
  return betweenSigns(text, start, end);
}

function lastBoundary(
  text: string,
  boundary: RegExp,
  minEnd: number,
  end: number,
  blocks: readonly Range[],
): number | undefined {
  for (let at = end; at > minEnd; at -= 1) {
    const code = within(at, blocks);
    if (code !== undefined) at = code.start;
    if (at > minEnd && text.charCodeAt(at) <= 0x3000 && boundary.test(text.slice(at, at + 2))) return at;
  }
  return undefined;
}

/** Characters that belong to the previous one: marks, joiners, variants, the second half of a pair. */
const belongsToLast = /^(?:\p{M}|\u200d|[\u{1f3fb}-\u{1f3ff}])/u;

/** Returns the last position up to `end` that splits no visible character, or at least no code point. */
function betweenSigns(text: string, start: number, end: number): number {
  for (let at = end; at > Math.max(start, end - 64); at -= 1) {
    if (
      isBetweenCodePoints(text, at) &&
      !belongsToLast.test(text.slice(at, at + 2)) &&
      text.charAt(at - 1) !== '\u200d'
    )
      return at;
  }
  return isBetweenCodePoints(text, end) ? end : end - 1;
}

function isBetweenCodePoints(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return !(code >= 0xdc00 && code <= 0xdfff);
}
