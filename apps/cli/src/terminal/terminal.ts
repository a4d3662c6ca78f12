import { stripVTControlCharacters } from 'node:util';
import type { Output } from './io.ts';
import type { Screen } from './screen.ts';
import { widthOf } from './text-width.ts';

/** Tells the terminal to display the output between the two in one step, so that a redrawn footer does not flicker. */
const synchronised = { begin: '\x1b[?2026h', end: '\x1b[?2026l' } as const;

/**
 * Writes a growing page: streamed text, whole lines, and a footer below that is redrawn. Lines above the footer never
 * change. The input may contain our own colors, but no other escape sequence.
 *
 * Invariant: the cursor is at the end of the footer, or at the end of the page if there is none.
 */
export class Terminal {
  readonly #out: Output;
  readonly #err: Output;
  readonly #screen: Screen;
  /** Cells used on the last line of the page; above zero while a line of text is incomplete. */
  #column = 0;
  #footer: readonly string[] = [];

  /** `screen` describes `err`, which receives everything except the response. */
  constructor(out: Output, err: Output, screen: Screen) {
    this.#out = out;
    this.#err = err;
    this.#screen = screen;
  }

  /** Adds text to the response. The text may end in the middle of a line. */
  text(text: string): void {
    if (text === '') return;
    this.#writeAbove(() => {
      this.#out.write(text);
      const lineStart = text.lastIndexOf('\n') + 1;
      const width = widthOf(stripVTControlCharacters(text.slice(lineStart)));
      this.#column = lineStart > 0 ? width : this.#column + width;
    });
  }

  /** Adds complete lines to the report. */
  lines(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#writeAbove(() => {
      this.#endLine();
      this.#err.write(`${lines.join('\n')}\n`);
    });
  }

  /** Replaces the footer; an empty list removes it. Does nothing if lines cannot be redrawn. */
  footer(lines: readonly string[]): void {
    if (!this.#screen.redraw || sameLines(lines, this.#footer)) return;
    const drawn = `${this.#erasing()}${this.#drawing(lines)}`;
    this.#footer = lines;
    this.#err.write(synchronised.begin + drawn + synchronised.end);
  }

  /** Removes the footer and ends an open line, because the next output is not ours. */
  close(): void {
    if (this.#footer.length > 0) this.#err.write(this.#erasing());
    this.#footer = [];
    this.#endLine();
  }

  /** Writes above the footer, which moves down. */
  #writeAbove(write: () => void): void {
    const footer = this.#footer;
    if (footer.length === 0) return write();
    this.#err.write(synchronised.begin + this.#erasing());
    this.#footer = [];
    write();
    this.#err.write(this.#drawing(footer) + synchronised.end);
    this.#footer = footer;
  }

  #endLine(): void {
    if (this.#column > 0) this.#out.write('\n');
    this.#column = 0;
  }

  /** Returns the output that draws the footer below an open line and moves the cursor back to the end of that line. */
  #drawing(lines: readonly string[]): string {
    if (lines.length === 0) return '';
    return (this.#column > 0 ? '\n' : '') + lines.join('\n');
  }

  #erasing(): string {
    if (this.#footer.length === 0) return '';
    const columns = this.#screen.columns();
    // In a terminal that became narrower, each line of the footer takes this many rows.
    const rows = this.#footer.reduce((sum, line) => sum + rowsOf(line, columns), 0);
    const clear = `\r\x1b[K${'\x1b[1A\x1b[K'.repeat(rows - 1)}`;
    if (this.#column === 0) return clear;
    return `${clear}\x1b[1A\x1b[${(this.#column % columns) + 1}G`;
  }
}

/** Returns the number of rows that a line takes in a terminal of this width. */
export function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
}

function sameLines(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, index) => line === right[index]);
}
