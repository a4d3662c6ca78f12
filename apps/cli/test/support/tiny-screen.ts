/**
 * A minimal terminal with the features that the CLI uses: text, line breaks, erasing a line or
 * everything below, and cursor movement up, down and to a column. Any other sequence is an error,
 * so that no test overlooks one.
 */
export class TinyScreen {
  readonly #columns: number;
  readonly lines: string[] = [''];
  row = 0;
  column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(output: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this class parses escape sequences.
    for (const token of output.match(/\x1b\[[?\d;]*[A-Za-z]|\x1b\][^\x07]*\x07|[\s\S]/g) ?? []) {
      // A bell and a notification show nothing.
      if (token.endsWith('\x07')) continue;
      if (token.startsWith('\x1b')) this.#control(token);
      else if (token === '\n') this.#newLine();
      else if (token === '\r') this.column = 0;
      else this.#put(token);
    }
  }

  /** Returns the text without trailing spaces in its lines. */
  text(): string {
    return this.lines.map((line) => line.trimEnd()).join('\n');
  }

  #control(sequence: string): void {
    const amount = Number(/\d+/.exec(sequence)?.[0] ?? 1);
    const kind = sequence.at(-1);
    if (kind === 'm' || /\[\?(2026|2004|1004)[hl]$/.test(sequence)) return;
    if (kind === 'A') this.row = Math.max(0, this.row - amount);
    else if (kind === 'B') this.row = Math.min(this.lines.length - 1, this.row + amount);
    else if (kind === 'J') this.#eraseBelow();
    else if (kind === 'G') this.column = amount - 1;
    else if (kind === 'K') this.lines[this.row] = (this.lines[this.row] ?? '').slice(0, this.column);
    else throw new Error(`The command line uses no ${JSON.stringify(sequence)}.`);
  }

  #eraseBelow(): void {
    this.lines[this.row] = (this.lines[this.row] ?? '').slice(0, this.column);
    this.lines.length = this.row + 1;
  }

  #put(character: string): void {
    if (this.column === this.#columns) this.#newLine();
    const line = (this.lines[this.row] ?? '').padEnd(this.column);
    this.lines[this.row] = line.slice(0, this.column) + character + line.slice(this.column + 1);
    this.column += 1;
  }

  #newLine(): void {
    this.row += 1;
    this.column = 0;
    this.lines[this.row] ??= '';
  }
}
