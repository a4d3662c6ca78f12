/** Maximum length of a line, in UTF-16 code units: 16 Mi. A longer line is discarded while it arrives. */
const maxLineBytes = 16 * 1_048_576;

/** Number of bytes kept of a line that is too long, enough to recognize a message of the program. */
const maxHead = 256;

/** Splits a stream of bytes into lines. */
export class LineReader {
  readonly #decoder: TextDecoder = new TextDecoder();
  readonly #readLine: (line: string) => void;
  /** Chunks of the current line, joined once at its end. */
  #chunks: string[] = [];
  #length = 0;
  #tooLong = false;
  readonly #drop: (head: string) => void;

  /** @param drop receives the beginning of a line as soon as it is too long */
  constructor(readLine: (line: string) => void, drop: (head: string) => void = () => {}) {
    this.#readLine = readLine;
    this.#drop = drop;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Ends the stream; the remaining text is a line too. */
  end(): void {
    this.#take(this.#decoder.decode());
    this.#line();
  }

  #take(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      this.#addChunk(text.slice(from, at));
      this.#line();
      from = at + 1;
    }
    if (from < text.length) this.#addChunk(text.slice(from));
  }

  #addChunk(text: string): void {
    this.#length += text.length;
    if (this.#length > maxLineBytes && !this.#tooLong) {
      this.#tooLong = true;
      const head = [...this.#chunks, text].join('').slice(0, maxHead);
      this.#chunks = [];
      this.#drop(head);
    }
    if (!this.#tooLong) this.#chunks.push(text);
  }

  #line(): void {
    const line = this.#chunks.join('');
    const isWhole = !this.#tooLong;
    this.#chunks = [];
    this.#length = 0;
    this.#tooLong = false;
    if (isWhole && line.trim() !== '') this.#readLine(line);
  }
}
