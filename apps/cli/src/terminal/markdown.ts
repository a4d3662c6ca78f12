import { CodeLines, paintTokens } from './code-colors.ts';
import type { StyledWord } from './inline-markdown.ts';
import { InlineStyle } from './inline-markdown.ts';
import { renderTable } from './markdown-table.ts';
import type { Style } from './style.ts';
import { head, widthOf } from './text-width.ts';

type LineKind = 'unknown' | 'text' | 'heading' | 'code' | 'table';

/** Spaces and the word after them. Lines of Chinese and Japanese can be broken between any two characters. */
const nextWord =
  /^([ \t]*)([\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]|[^ \t\n\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]+)/;

function isIdeograph(word: string): boolean {
  return /^[\u2e80-\u9fff\uac00-\ud7a3\uff00-\uff60]$/.test(word);
}

/** The box of a task in a list, after the bullet; and the start of what may become one. */
const taskBox = /^ \[[ xX]\](?=[ \t\n])/;
const openTaskBox = /^ (\[([ xX]\]?)?)?$/;

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
  #inline: InlineStyle;
  /** Finds the colors of the code block. */
  #codeLines: CodeLines | undefined;
  /** Cells used on the current line of the terminal. */
  #column = 0;
  /** Spaces in front of a continued line, so that it stays under its list item. */
  #indent = 0;
  /** True after a blank line. It is output when something follows, and only once for several. */
  #gap = false;

  constructor(style: Style, columns: () => number) {
    this.#style = style;
    this.#columns = columns;
    this.#inline = new InlineStyle(style);
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
    if (/^[-*+]$/.test(word) && openTaskBox.test(this.#held.slice(blanks.length + word.length)))
      return undefined;
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
    // Deeper lists are not moved out of a narrow terminal.
    const indent = blanks.replaceAll('\t', '    ').slice(0, Math.max(0, Math.floor(this.#columns() / 2)));
    const isSign = /^([-*+>]|\d{1,3}[.)])$/.test(word);
    const isBullet = isSign && /^[-*+]$/.test(word) && this.#style.color;
    const task = isBullet ? taskBox.exec(this.#held.slice(blanks.length + word.length))?.[0] : undefined;
    const sign = isBullet ? (task?.trim() ?? this.#style.marks.bullet) : word;
    const taken = blanks.length + (isSign ? word.length : 0) + (task?.length ?? 0);
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
    if (this.#fence === undefined) {
      this.#fence = mark ?? '```';
      this.#codeLines = CodeLines.of(/^[\s`~]*([\w+#.-]+)/.exec(line)?.[1], this.#style);
    } else if (mark?.startsWith(this.#fence) && line.trim() === mark) this.#fence = undefined;
    else if (this.#codeLines === undefined) return `${this.#style.cyan(line)}\n`;
    else return `${paintTokens(this.#codeLines.next(line), this.#style)}\n`;
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
    return this.#place(blanks, this.#inline.word(fitting));
  }

  #place(blanks: string, { plain, styled }: StyledWord): string {
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
    this.#inline = new InlineStyle(this.#style);
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
}
