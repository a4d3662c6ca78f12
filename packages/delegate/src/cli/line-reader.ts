/** Maximum length of a line in bytes: 16 Mi. A longer line is discarded while it arrives. */
const maxLineBytes = 16 * 1_048_576;

/** Number of bytes kept of a line that is lost, enough to recognize a message of the program. */
const maxHead = 256;

const newline = 10;

// Replaced characters would be lost silently.
const strict = new TextDecoder('utf-8', { fatal: true });
const lenient = new TextDecoder();

/** Receives the beginning of a line that cannot be read, because it is too long or not UTF-8. */
export type LostLine = (head: string, why: 'long' | 'invalid') => void;

/** Splits a stream of bytes into lines. */
export class LineReader {
  readonly #readLine: (line: string) => void;
  /** Chunks of the current line, joined once at its end. */
  #chunks: Uint8Array[] = [];
  #length = 0;
  #tooLong = false;
  readonly #lose: LostLine;

  /** @param lose is called as soon as a line is lost */
  constructor(readLine: (line: string) => void, lose: LostLine = () => {}) {
    this.#readLine = readLine;
    this.#lose = lose;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    // A line break never falls inside a character.
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#addChunk(chunk.subarray(from, at));
      this.#line();
      from = at + 1;
    }
    // The owner of the chunk may reuse its memory.
    if (from < chunk.length) this.#addChunk(chunk.slice(from));
  }

  /** Ends the stream; the remaining text is a line too. */
  end(): void {
    this.#line();
  }

  #addChunk(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (!this.#tooLong) this.#chunks.push(bytes);
    if (this.#length <= maxLineBytes || this.#tooLong) return;
    this.#tooLong = true;
    this.#lose(this.#head(), 'long');
    this.#chunks = [];
  }

  #head(): string {
    return lenient.decode(Buffer.concat(this.#chunks).subarray(0, maxHead));
  }

  #line(): void {
    const isWhole = !this.#tooLong;
    let line = '';
    try {
      line = strict.decode(Buffer.concat(this.#chunks));
    } catch {
      this.#lose(this.#head(), 'invalid');
    }
    this.#chunks = [];
    this.#length = 0;
    this.#tooLong = false;
    if (isWhole && line.trim() !== '') this.#readLine(line);
  }
}
