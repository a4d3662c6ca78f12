import { stripVTControlCharacters } from 'node:util';
import type { Clock, Output } from '../terminal/io.ts';
import type { Screen } from '../terminal/screen.ts';
import { rowsOf } from '../terminal/terminal.ts';
import { widthOf } from '../terminal/text-width.ts';
import type { Page } from '../view/run-view.ts';

/** The cursor position in a footer: a row and a cell of that row. */
export interface Cursor {
  readonly row: number;
  readonly column: number;
}

/** The part below the page that is redrawn. */
export interface LiveFooter {
  /** Each line fits in one row of the terminal. */
  readonly lines: readonly string[];
  readonly cursor: Cursor;
}

const synchronised = { begin: '\x1b[?2026h', end: '\x1b[?2026l' } as const;

/** Minimum time between two writes of streamed text, in milliseconds. */
const textEveryMs = 30;

/** Maximum time that lines wait for the end of the line that is being written, in milliseconds. */
const asideMs = 2000;

/**
 * A page that grows above a footer with the input. Text on the page is never written again. A word that fits on the
 * last line of the page is written without touching the footer. When the footer changes, only the changed lines are
 * written. This keeps a long response cheap over a slow connection.
 *
 * Invariant: the cursor is at the input in the footer; without a footer it is at the end of the page.
 */
export class LivePage implements Page {
  readonly #out: Output;
  readonly #screen: Screen;
  readonly #clock: Clock;
  /** Cells used on the last line of the page; above zero while a line of text is incomplete. */
  #column = 0;
  #footer: LiveFooter = { lines: [], cursor: { row: 0, column: 0 } };
  #columns = 0;
  #waiting = '';
  #stopWaiting: (() => void) | undefined;
  /** Lines for the next place between two lines of the page, and what ends the wait for it. */
  #aside: readonly string[] = [];
  #stopAside: (() => void) | undefined;

  constructor(out: Output, screen: Screen, clock: Clock) {
    this.#out = out;
    this.#screen = screen;
    this.#clock = clock;
  }

  /** Adds text to the page. The text may end in the middle of a line. */
  text(text: string): void {
    const end = this.#aside.length === 0 ? -1 : text.indexOf('\n');
    if (end !== -1) {
      this.#waiting += text.slice(0, end + 1);
      const rest = text.slice(end + 1);
      this.lines(rest === '' ? [] : ['']);
      return this.text(rest);
    }
    this.#waiting += text;
    if (this.#waiting === '') return;
    this.#stopWaiting ??= this.#clock.after(textEveryMs, () => this.#flush());
  }

  /** Adds complete lines to the page. */
  lines(lines: readonly string[]): void {
    this.#flush();
    this.#stopAside?.();
    this.#stopAside = undefined;
    const all = [...this.#aside, ...lines];
    this.#aside = [];
    if (all.length === 0) return;
    const end = this.#column > 0 ? '\n' : '';
    this.#writeAbove(`${end}${all.join('\n')}\n`, 0);
  }

  /** Adds complete lines that are not part of the stream: after the line that is being written, or a moment later. */
  aside(lines: readonly string[]): void {
    this.#flush();
    if (this.#column === 0) return this.lines(lines);
    this.#aside = [...this.#aside, ...lines];
    this.#stopAside ??= this.#clock.after(asideMs, () => this.lines(['']));
  }

  /** Replaces the footer. */
  live(footer: LiveFooter): void {
    this.#flush();
    const before = this.#footer;
    const isSameShape =
      before.lines.length === footer.lines.length && this.#columns === this.#screen.columns();
    const drawn = isSameShape ? this.#changedText(footer) : this.#erasing() + this.#drawing(footer);
    this.#footer = footer;
    if (drawn !== '') this.#out.write(isSameShape ? drawn : synchronised.begin + drawn + synchronised.end);
  }

  /** Does nothing: the owner of the page draws the footer. */
  footer(): void {}

  /** Ends an open line. */
  close(): void {
    this.lines([]);
    if (this.#column > 0) this.#writeAbove('\n', 0);
  }

  /** Removes the footer, because the next output is not ours. */
  leave(): void {
    this.close();
    this.#out.write(this.#erasing());
    this.#footer = { lines: [], cursor: { row: 0, column: 0 } };
  }

  #flush(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    const text = this.#waiting;
    this.#waiting = '';
    if (text === '') return;
    const lineStart = text.lastIndexOf('\n') + 1;
    const width = widthOf(stripVTControlCharacters(text.slice(lineStart)));
    const column = lineStart > 0 ? width : this.#column + width;
    const isInside = lineStart === 0 && this.#column > 0 && column < this.#screen.columns();
    if (!isInside || this.#footer.lines.length === 0 || this.#columns !== this.#screen.columns())
      return this.#writeAbove(text, column);
    const { row, column: cursorColumn } = this.#footer.cursor;
    const place = `\x1b[${row + 1}A\x1b[${this.#column + 1}G`;
    this.#out.write(`${place}${text}\x1b[${row + 1}B\x1b[${cursorColumn + 1}G`);
    this.#column = column;
  }

  /** Writes at the end of the page; the footer moves down. */
  #writeAbove(text: string, column: number): void {
    if (this.#footer.lines.length === 0) {
      this.#out.write(text);
      this.#column = column;
      return;
    }
    const erased = this.#erasing();
    this.#column = column;
    this.#out.write(synchronised.begin + erased + text + this.#drawing(this.#footer) + synchronised.end);
  }

  /** Returns the output that draws the footer, from the end of the page to the cursor in the footer. */
  #drawing({ lines, cursor }: LiveFooter): string {
    this.#columns = this.#screen.columns();
    if (lines.length === 0) return '';
    const up = lines.length - 1 - cursor.row;
    return (
      (this.#column > 0 ? '\n' : '') +
      lines.join('\n') +
      (up > 0 ? `\x1b[${up}A` : '') +
      `\x1b[${cursor.column + 1}G`
    );
  }

  /** Returns what erases the footer, to the end of the page. Its lines take several rows in a terminal made narrower. */
  #erasing(): string {
    const { lines, cursor } = this.#footer;
    if (lines.length === 0) return '';
    const columns = this.#screen.columns();
    const above = lines.slice(0, cursor.row).reduce((sum, line) => sum + rowsOf(line, columns), 0);
    const up = above + Math.floor(cursor.column / columns);
    const clear = `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`;
    return this.#column === 0 ? clear : `${clear}\x1b[1A\x1b[${(this.#column % columns) + 1}G`;
  }

  /** Returns the output that redraws only the changed lines, from the cursor of the old footer to that of the new one. */
  #changedText(footer: LiveFooter): string {
    const { lines, cursor } = this.#footer;
    let row = cursor.row;
    let drawn = '';
    for (const [index, line] of footer.lines.entries()) {
      if (line === lines[index]) continue;
      drawn += `${vertically(index - row)}\r${line}\x1b[K`;
      row = index;
    }
    const isSamePlace = row === footer.cursor.row && cursor.column === footer.cursor.column && drawn === '';
    if (isSamePlace) return '';
    return `${drawn}${vertically(footer.cursor.row - row)}\x1b[${footer.cursor.column + 1}G`;
  }
}

function vertically(rows: number): string {
  if (rows === 0) return '';
  return rows < 0 ? `\x1b[${-rows}A` : `\x1b[${rows}B`;
}
