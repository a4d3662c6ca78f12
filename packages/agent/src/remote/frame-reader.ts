import { LineText } from '../provider/wire/line-text.ts';
import { defined } from '../values/defined.ts';

/** One frame of a stream of events. */
export interface EventFrame {
  readonly id?: string;
  readonly data: string;
}

/** Splits the bytes of a stream of events into frames. Comments and fields other than id and data are left out. */
export class FrameReader {
  readonly #lines = new LineText();
  #id: string | undefined;
  #data: string | undefined;

  /** The frames that these bytes complete. A frame that is cut off is never given. */
  push(bytes: Uint8Array): EventFrame[] {
    const frames: EventFrame[] = [];
    const text = this.#lines.push(bytes);
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at);
      if (end === at) this.#complete(frames);
      else this.#read(text.slice(at, end));
      at = end + 1;
    }
    return frames;
  }

  #read(line: string): void {
    const colon = line.indexOf(':');
    if (colon <= 0) return;
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    const name = line.slice(0, colon);
    if (name === 'id') this.#id = value;
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #complete(frames: EventFrame[]): void {
    if (this.#data !== undefined) {
      frames.push({ data: this.#data, ...defined({ id: this.#id }) });
    }
    this.#id = undefined;
    this.#data = undefined;
  }
}
