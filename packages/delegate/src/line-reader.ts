/** A longer line is noise: it is dropped as it comes, so that nothing has to be held for it. */
const mostLine = 16 * 1_048_576;

/** Cuts a stream of bytes into lines, wherever the bytes were cut before. */
export class LineReader {
  readonly #decoder: TextDecoder = new TextDecoder();
  readonly #hear: (line: string) => void;
  /** Pieces of the line under way: joined once, however many there are. */
  #pieces: string[] = [];
  #length = 0;
  #tooLong = false;

  constructor(hear: (line: string) => void) {
    this.#hear = hear;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The stream is over: what is left is a line too. */
  end(): void {
    this.#take(this.#decoder.decode());
    this.#line();
  }

  #take(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      this.#piece(text.slice(from, at));
      this.#line();
      from = at + 1;
    }
    if (from < text.length) this.#piece(text.slice(from));
  }

  #piece(text: string): void {
    this.#length += text.length;
    if (this.#length > mostLine) {
      this.#tooLong = true;
      this.#pieces = [];
    }
    if (!this.#tooLong) this.#pieces.push(text);
  }

  #line(): void {
    const line = this.#pieces.join('');
    const isWhole = !this.#tooLong;
    this.#pieces = [];
    this.#length = 0;
    this.#tooLong = false;
    if (isWhole && line.trim() !== '') this.#hear(line);
  }
}
