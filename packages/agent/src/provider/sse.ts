import { frameTooLarge, LineText, maxFrameBytes } from './line-text.ts';
import { parsePayload } from './payload.ts';
import type { Framer } from './wire.ts';

const none: readonly unknown[] = [];

/**
 * Splits a body of server-sent events into the JSON of their data. Names, ids and comments are left out: the
 * payload itself says what it is, and a comment only proves that the connection lives.
 */
export class SseFramer implements Framer {
  readonly #lines = new LineText();
  /** Data lines of the event that is not complete yet. */
  #data: string | undefined;

  push(bytes: Uint8Array): readonly unknown[] {
    const text = this.#lines.push(bytes);
    return text === '' ? none : this.#read(text);
  }

  /** Some servers leave out the blank line after the last event. */
  end(): readonly unknown[] {
    const payloads = this.#read(`${this.#lines.rest()}\n`);
    this.#data = undefined;
    return payloads;
  }

  #read(text: string): unknown[] {
    const payloads: unknown[] = [];
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (end === at) {
        if (this.#data !== undefined) payloads.push(parsePayload(this.#data));
        this.#data = undefined;
      } else if (text.startsWith('data:', at)) {
        this.#append(text.slice(text[at + 5] === ' ' ? at + 6 : at + 5, end));
      } else if (end - at === 4 && text.startsWith('data', at)) {
        this.#append('');
      }
      at = end + 1;
    }
    return payloads;
  }

  #append(line: string): void {
    if (this.#data === undefined) {
      this.#data = line;
      return;
    }
    if (this.#data.length + line.length > maxFrameBytes) throw frameTooLarge();
    this.#data += `\n${line}`;
  }
}
