import type { Style } from './style.ts';
import { head, padEnd, widthOf } from './text-width.ts';

type LineKind = 'unknown' | 'text' | 'heading' | 'code' | 'table';

interface Inline {
  bold: boolean;
  italic: boolean;
  code: boolean;
}

const noInline: Readonly<Inline> = { bold: false, italic: false, code: false };

/** Spaces and the word after them. Lines of Chinese and Japanese can be broken between any two characters. */
const nextWord =
  /^([ \t]*)([\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]|[^ \t\n\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]+)/;

function isIdeograph(word: string): boolean {
  return /^[\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]$/.test(word);
}

/** The longest marker at the start of a line: six `#`, or a number of three digits with its dot. */
const maxSignLength = 6;

/**
 * Styles Markdown while it streams in. Output is never taken back: words and code lines are returned once they are
 * complete, tables once they have ended. Lines are broken at spaces to fit the terminal, but code is not. Without
 * colors the Markdown markers remain, because they then carry the meaning.
 *
 * The text must be free of control characters (see `visible`).
 */
export class MarkdownStream {
  readonly #style: Style;
  readonly #columns: () => number;
  /** Input that has not been returned yet. */
  #held = '';
  #block: LineKind = 'unknown';
  #fence: string | undefined;
  #table: string[] = [];
  #inline: Inline = { ...noInline };
  /** Cells used on the current line of the terminal. */
  #column = 0;
  /** Spaces in front of a continued line, so that it stays under its list item. */
  #indent = 0;
  /** True after a blank line. It is output when something follows, and only once for several. */
  #gap = false;

  constructor(style: Style, columns: () => number) {
    this.#style = style;
    this.#columns = columns;
  }

  /** Adds text and returns the output that is complete. */
  push(text: string): string {
    this.#held += text;
    let shown = '';
    for (;;) {
      const output = this.#next();
      if (output === undefined) return shown;
      shown += output;
    }
  }

  /** Ends the block and returns the rest, which ends in a newline unless nothing was ever shown on the line. */
  end(): string {
    let shown = '';
    if (this.#held !== '' || this.#block !== 'unknown') shown = this.push('\n');
    shown += this.#endTable();
    this.#fence = undefined;
    this.#gap = false;
    return shown;
  }

  /** Returns the next complete piece of output; undefined if more input is needed. */
  #next(): string | undefined {
    if (this.#block === 'unknown') return this.#begin();
    if (this.#block === 'code' || this.#block === 'table' || this.#block === 'heading')
      return this.#wholeLine();
    return this.#word();
  }

  /** Determines the kind of line that begins here from its first word. */
  #begin(): string | undefined {
    const newline = this.#held.indexOf('\n');
    if (this.#fence !== undefined) return newline === -1 ? undefined : this.#startBlock('code');
    const first = /^(\s*?)(\S+)(?=[ \t\n])/.exec(this.#held);
    if (newline !== -1 && this.#held.slice(0, newline).trim() === '') {
      this.#held = this.#held.slice(newline + 1);
      const table = this.#endTable();
      this.#gap = true;
      return table;
    }
    if (first === null) return this.#beginLong();
    const [, blanks = '', word = ''] = first;
    if (word.startsWith('|')) return this.#startBlock('table');
    const before = this.#endTable() + this.#takeGap();
    if (/^(```|~~~)/.test(word)) return before + (this.#startBlock('code') ?? '');
    if (/^#{1,6}$/.test(word)) return before + (this.#startBlock('heading') ?? '');
    return before + this.#beginText(blanks, word);
  }

  /** Handles an incomplete first word: once it is longer than any marker, it can only be text. */
  #beginLong(): string | undefined {
    const [, blanks = '', word = ''] = /^(\s*)(\S*)$/.exec(this.#held) ?? [];
    if (word.length <= maxSignLength || /^(\||```|~~~)/.test(word)) return undefined;
    return this.#endTable() + this.#takeGap() + this.#beginText(blanks, word);
  }

  #takeGap(): string {
    const gap = this.#gap ? '\n' : '';
    this.#gap = false;
    return gap;
  }

  #startBlock(block: LineKind): string | undefined {
    this.#block = block;
    return this.#wholeLine() ?? '';
  }

  /** Starts a line of text. A list item or quote keeps its marker, and its continued lines are indented under its text. */
  #beginText(blanks: string, word: string): string {
    this.#block = 'text';
    const indent = blanks.replaceAll('\t', '    ');
    const isSign = /^([-*+>]|\d{1,3}[.)])$/.test(word);
    const sign = isSign && /^[-*+]$/.test(word) && this.#style.color ? this.#style.marks.bullet : word;
    const taken = blanks.length + (isSign ? word.length : 0);
    this.#held = this.#held.slice(taken);
    this.#column = indent.length + (isSign ? widthOf(sign) : 0);
    this.#indent = isSign ? this.#column + 1 : Math.min(indent.length, 8);
    return indent + (isSign ? this.#style.cyan(sign) : '');
  }

  #wholeLine(): string | undefined {
    const end = this.#held.indexOf('\n');
    if (end === -1) return undefined;
    const line = this.#held.slice(0, end);
    this.#held = this.#held.slice(end + 1);
    const block = this.#block;
    this.#block = 'unknown';
    if (block === 'table') {
      this.#table.push(line);
      return '';
    }
    return block === 'heading' ? this.#heading(line) : this.#code(line);
  }

  #heading(line: string): string {
    if (!this.#style.color) return `${line}\n`;
    return `${this.#style.bold(line.replace(/^#+\s*/, '').replaceAll(/\*\*|`/g, ''))}\n`;
  }

  #code(line: string): string {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (this.#fence === undefined) this.#fence = mark ?? '```';
    else if (mark?.startsWith(this.#fence) && line.trim() === mark) this.#fence = undefined;
    else return `${this.#style.cyan(line)}\n`;
    return this.#style.color ? '' : `${line}\n`;
  }

  /** Returns one word with the spaces before it, or the end of the line. */
  #word(): string | undefined {
    const end = /^[ \t]*\n/.exec(this.#held);
    if (end !== null) {
      this.#held = this.#held.slice(end[0].length);
      return this.#endLine();
    }
    const [, blanks = '', word = ''] = nextWord.exec(this.#held) ?? [];
    if (word === '') return undefined;
    // Leave the last cell free, because terminals differ in where a full line leaves the cursor.
    const room = Math.max(4, this.#columns() - 1 - this.#indent);
    const fitting = widthOf(word) > room ? head(word, room) : word;
    const isWhole =
      fitting.length < word.length || this.#held.length > blanks.length + word.length || isIdeograph(word);
    if (!isWhole) return undefined;
    this.#held = this.#held.slice(blanks.length + fitting.length);
    return this.#place(blanks, fitting);
  }

  #place(blanks: string, word: string): string {
    const { plain, styled } = this.#styleWord(word);
    const width = widthOf(plain);
    const gap = blanks.replaceAll('\t', ' ');
    if (this.#column > this.#indent && this.#column + gap.length + width > this.#columns() - 1) {
      this.#column = this.#indent + width;
      return `\n${' '.repeat(this.#indent)}${styled}`;
    }
    this.#column += gap.length + width;
    return gap + styled;
  }

  #endLine(): string {
    this.#block = 'unknown';
    this.#inline = { ...noInline };
    this.#column = 0;
    this.#indent = 0;
    return '\n';
  }

  #endTable(): string {
    const rows = this.#table;
    this.#table = [];
    if (rows.length === 0) return '';
    return this.#takeGap() + renderTable(rows, this.#style, this.#columns());
  }

  /** Applies emphasis and code markers, which may span words but not lines. */
  #styleWord(word: string): { plain: string; styled: string } {
    if (!this.#style.color) return { plain: word, styled: word };
    let plain = '';
    let styled = '';
    for (const token of word.match(/`+|\*\*|[*_]|\\[*_`]|[^`*_\\]+|\\/g) ?? []) {
      if (this.#toggles(token, plain === '', word)) continue;
      const text = /^\\[*_`]$/.test(token) && !this.#inline.code ? token.slice(1) : token;
      plain += text;
      styled += this.#paint(text);
    }
    return { plain, styled };
  }

  #toggles(token: string, atStart: boolean, word: string): boolean {
    const inline = this.#inline;
    if (token.startsWith('`')) {
      inline.code = !inline.code;
      return true;
    }
    if (inline.code || word.length === token.length) return false;
    if (token === '**') {
      inline.bold = !inline.bold;
      return true;
    }
    // A single marker inside a word is part of it, as in snake_case or 2*3.
    if (token !== '*' && token !== '_') return false;
    const isLast = !/[\p{L}\p{N}]/u.test(word.slice(word.lastIndexOf(token)));
    if (inline.italic ? !isLast : !atStart) return false;
    inline.italic = !inline.italic;
    return true;
  }

  #paint(text: string): string {
    const { bold, italic, cyan } = this.#style;
    if (this.#inline.code) return cyan(text);
    const slanted = this.#inline.italic ? italic(text) : text;
    return this.#inline.bold ? bold(slanted) : slanted;
  }
}

/** Returns the lines of a Markdown table with aligned columns, or unchanged if they would not fit the terminal. */
function renderTable(lines: readonly string[], style: Style, columns: number): string {
  const asGiven = lines.map((line) => `${line}\n`).join('');
  const rows = lines.map(cellsOf);
  const separator = rows[1];
  if (rows[0] === undefined || separator === undefined || !separator.every((cell) => /^:?-+:?$/.test(cell))) {
    return asGiven;
  }
  const body = [rows[0], ...rows.slice(2)].map((row) =>
    row.map((cell) => (style.color ? cell.replaceAll(/\*\*|`/g, '') : cell)),
  );
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
