import { LineText } from './line-text.ts';
import { parseJson } from './payload.ts';
import type { Framer } from './wire.ts';

/** Splits a body of lines of JSON. Blank lines only prove that the connection lives. */
export class NdjsonFramer implements Framer {
  readonly #lines = new LineText();

  push(bytes: Uint8Array): readonly unknown[] {
    return payloadsIn(this.#lines.push(bytes));
  }

  end(): readonly unknown[] {
    return payloadsIn(this.#lines.rest());
  }
}

function payloadsIn(text: string): readonly unknown[] {
  const payloads: unknown[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end);
    if (line.trim() !== '') payloads.push(parseJson(line));
    at = end + 1;
  }
  return payloads;
}
