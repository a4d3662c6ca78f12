import { frameTooLarge, LineText, maxFrameBytes } from './line-text.ts';
import { parseJson, parsePayload } from './payload.ts';
import type { Framer, Framing } from './wire.ts';

/** A framing with its content types spelled out. */
export interface OpenFraming {
  /** Lower case, without parameters; the first is the one we ask for. */
  readonly contentTypes: readonly string[];
  open(): Framer;
}

const sse: OpenFraming = { contentTypes: ['text/event-stream'], open: () => new SseFramer() };

const ndjson: OpenFraming = {
  contentTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/json-lines'],
  open: () => new NdjsonFramer(),
};

/** The framing that a wire names or brings. */
export function framingOf(framing: Framing): OpenFraming {
  if (framing === 'sse') return sse;
  if (framing === 'ndjson') return ndjson;
  return {
    contentTypes: framing.contentTypes.map((type) => type.toLowerCase()),
    open: () => framing.open(),
  };
}

/** Whether a body of this type can be read. Servers that name no type are taken at their word. */
export function accepts(framing: OpenFraming, contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' || framing.contentTypes.includes(type);
}

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
