import { frameTooLarge, LineText, maxFrameBytes } from './line-text.ts';
import { parsePayload } from './payload.ts';
import type { Framer } from './wire.ts';

const none: readonly unknown[] = [];
const blank = 32;

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

  #read(text: string): readonly unknown[] {
    let payloads: unknown[] | undefined;
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (end === at) {
        if (this.#data !== undefined) {
          // Most chunks hold one event: an array that was pushed to has room for seventeen.
          const payload = parsePayload(this.#data);
          if (payloads === undefined) payloads = [payload];
          else payloads.push(payload);
        }
        this.#data = undefined;
      } else if (text.startsWith('data:', at)) {
        const line = text.slice(text.charCodeAt(at + 5) === blank ? at + 6 : at + 5, end);
        if (this.#data === undefined) this.#data = line;
        else this.#append(line);
      } else if (end - at === 4 && text.startsWith('data', at)) {
        if (this.#data === undefined) this.#data = '';
        else this.#append('');
      }
      at = end + 1;
    }
    return payloads ?? none;
  }

  /** Adds a further data line to those of the event. */
  #append(line: string): void {
    const data = `${this.#data}\n${line}`;
    if (data.length > maxFrameBytes) throw frameTooLarge();
    this.#data = data;
  }
}
