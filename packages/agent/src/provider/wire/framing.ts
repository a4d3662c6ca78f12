import { frameTooLarge, LineText, maxFrameBytes } from './line-text.ts';
import { parseJson, parsePayload } from './payload.ts';
import type { Framer, Framing } from './wire.ts';

/** A framing with its content types. */
export interface OpenFraming {
  /** In lower case, without parameters. The first is sent in the `accept` header. */
  readonly contentTypes: readonly string[];
  open(): Framer;
}

const sse: OpenFraming = { contentTypes: ['text/event-stream'], open: () => new SseFramer() };

const ndjson: OpenFraming = {
  contentTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/json-lines'],
  open: () => new NdjsonFramer(),
};

/** Returns the framing that a wire names or provides. */
export function framingOf(framing: Framing): OpenFraming {
  if (framing === 'sse') return sse;
  if (framing === 'ndjson') return ndjson;
  return {
    contentTypes: framing.contentTypes.map((type) => type.toLowerCase()),
    open: () => framing.open(),
  };
}

/** Returns whether a body of this type can be read. A missing type is accepted. */
export function accepts(framing: OpenFraming, contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' || framing.contentTypes.includes(type);
}

/** Splits a body into lines of JSON. Blank lines only show that the connection is alive. */
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

const none: readonly unknown[] = [];
const blank = 32;

/**
 * Splits a body of server-sent events into the JSON of their data. Names, ids and comments are ignored: the payload
 * contains its type, and a comment only shows that the connection is alive.
 */
export class SseFramer implements Framer {
  readonly #lines = new LineText();
  /** Data lines of the incomplete event. */
  #data: string | undefined;

  push(bytes: Uint8Array): readonly unknown[] {
    const text = this.#lines.push(bytes);
    return text === '' ? none : this.#read(text);
  }

  /** Completes the last event; some servers omit the blank line after it. */
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
          // Most chunks contain one event. Pushing to an empty array would allocate room for seventeen.
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

  /** Appends another data line to the event. */
  #append(line: string): void {
    const data = `${this.#data}\n${line}`;
    if (data.length > maxFrameBytes) throw frameTooLarge();
    this.#data = data;
  }
}
