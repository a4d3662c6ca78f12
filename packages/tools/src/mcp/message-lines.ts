/** Puts lines together from pieces of a stream, of which none may be longer than a bound. */
export class MessageLines {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that a piece completes.
   * @throws RangeError for a line that is too long.
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#pieces).toString('utf8').trim());
      this.#pieces = [];
      this.#length = 0;
      start = end + 1;
    }
    this.#add(chunk.slice(start));
    return lines.filter((line) => line !== '');
  }

  #add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes) {
      this.#pieces = [];
      this.#length = 0;
      throw new RangeError('too long');
    }
    if (piece.length > 0) this.#pieces.push(piece);
  }
}
