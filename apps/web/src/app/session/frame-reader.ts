/** Splits a stream of events into the data of its frames. A frame that is cut off is never given. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string | undefined;

  /** The data of the frames that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    const frames: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data !== undefined) frames.push(this.#data);
        this.#data = undefined;
      } else if (line.startsWith('data: ')) {
        const text = line.slice('data: '.length);
        this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`;
      }
    }
    return frames;
  }
}
