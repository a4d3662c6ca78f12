const newline = 0x0a;

/**
 * Selects lines from a stream of bytes and counts all lines. Only lines that fit completely are selected, except the
 * first: if it alone is too long it is cut, so that the result is never empty.
 */
export class LineWindow {
  readonly #first: number;
  readonly #last: number;
  readonly #maxBytes: number;
  #collected: Uint8Array[] = [];
  #takenBytes = 0;
  #takenLines = 0;
  #current: Uint8Array[] = [];
  #currentBytes = 0;
  #cutBytes = 0;
  /** Number of lines that have ended. */
  #ended = 0;
  #isOpen = false;
  #isFull = false;

  /** @param first number of the first line to select, starting at 1 */
  constructor(first: number, count: number, maxBytes: number) {
    this.#first = first;
    this.#last = first + count - 1;
    this.#maxBytes = maxBytes;
  }

  /** Number of lines seen so far. */
  get lines(): number {
    return this.#ended + (this.#isOpen ? 1 : 0);
  }

  /** Number of the last selected line; one less than the first if none was selected. */
  get lastTaken(): number {
    return this.#first + this.#takenLines - 1;
  }

  /** True if no further line will be selected. */
  get isDone(): boolean {
    return this.#isFull || this.#ended >= this.#last;
  }

  /** Number of bytes omitted from a line that was cut. */
  get cutBytes(): number {
    return this.#cutBytes;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(newline, at);
      const end = found < 0 ? chunk.length : found + 1;
      if (this.#isWanted()) this.#collect(chunk.subarray(at, end));
      if (found < 0) {
        this.#isOpen = true;
      } else {
        this.#endLine();
      }
      at = end;
    }
  }

  /** Completes the last line. Call this once, after the last byte. */
  finish(): void {
    if (this.#isOpen) this.#endLine();
  }

  /** Returns the selected lines with UNIX line breaks, without a byte order mark. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#collected)).replaceAll('\r\n', '\n');
  }

  #isWanted(): boolean {
    const line = this.#ended + 1;
    return !this.#isFull && line >= this.#first && line <= this.#last;
  }

  #collect(part: Uint8Array): void {
    const room = this.#maxBytes - this.#currentBytes;
    const kept = part.subarray(0, Math.max(0, room));
    if (this.#takenLines === 0) this.#cutBytes += part.length - kept.length;
    this.#current.push(kept);
    this.#currentBytes += part.length;
  }

  #endLine(): void {
    if (this.#isWanted()) {
      if (this.#takenLines > 0 && this.#takenBytes + this.#currentBytes > this.#maxBytes) {
        this.#isFull = true;
      } else {
        this.#collected.push(...this.#current);
        this.#takenBytes += this.#currentBytes;
        this.#takenLines += 1;
      }
    }
    this.#current = [];
    this.#currentBytes = 0;
    this.#ended += 1;
    this.#isOpen = false;
  }
}
