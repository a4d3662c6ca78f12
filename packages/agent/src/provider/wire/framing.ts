import { frameTooLarge, LineText, maxFrameBytes } from '../../values/line-text.ts';
import { holdsData, MalformedPayload, parseJson, parsePayload } from './payload.ts';
import type { Framer, Wire } from './wire.ts';

/** A framing with its content types. */
export interface OpenFraming {
  /** In lower case, without parameters. The first is sent in the `accept` header. */
  readonly contentTypes: readonly string[];
  open(): Framer;
}

const sseTypes = ['text/event-stream'];
const ndjsonTypes = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/json-lines',
];

/** Returns the payload of a frame, or undefined for a frame that must be parsed as JSON. */
type Parse = (text: string) => unknown;

const parsesNothing: Parse = () => undefined;

/** Returns the framing that a wire names or provides. */
export function framingOf(wire: Pick<Wire, 'framing' | 'parse'>): OpenFraming {
  const { framing } = wire;
  const parse = wire.parse?.bind(wire);
  if (framing === 'sse') return { contentTypes: sseTypes, open: () => new SseFramer(parse) };
  if (framing === 'ndjson') return { contentTypes: ndjsonTypes, open: () => new NdjsonFramer(parse) };
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
  readonly #parse: Parse;

  constructor(parse: Parse = parsesNothing) {
    this.#parse = parse;
  }

  push(bytes: Uint8Array): readonly unknown[] {
    return this.#read(this.#lines.push(bytes));
  }

  end(): readonly unknown[] {
    return this.#read(this.#lines.rest());
  }

  #read(text: string): readonly unknown[] {
    const payloads: unknown[] = [];
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end);
      if (line.trim() !== '') payloads.push(this.#parse(line) ?? parseJson(line));
      at = end + 1;
    }
    return payloads;
  }
}

const none: readonly unknown[] = [];
const blank = 32;

/** Matches a line that may be dropped besides a name: a comment, an id, a delay. */
const dropped = /^(:|event$|(id|retry)(:|$))/;

/**
 * Splits a body of server-sent events into the JSON of their data. Names, ids and comments are ignored: the payload
 * contains its type, and a comment only shows that the connection is alive. A line that is none of these, and an error
 * without data, are malformed.
 */
export class SseFramer implements Framer {
  readonly #lines = new LineText();
  readonly #parse: Parse;
  /** Data lines of the incomplete event. */
  #data: string | undefined;
  /** True if the incomplete event is named as an error. */
  #isError = false;

  constructor(parse: Parse = parsesNothing) {
    this.#parse = parse;
  }

  push(bytes: Uint8Array): readonly unknown[] {
    const text = this.#lines.push(bytes);
    return text === '' ? none : this.#read(text);
  }

  /** Completes the last event; some servers omit the blank line after it. */
  end(): readonly unknown[] {
    const rest = this.#lines.rest();
    if (rest === '' && this.#data === undefined) return none;
    const payloads = this.#read(`${rest}\n`);
    this.#data = undefined;
    return payloads;
  }

  #read(text: string): readonly unknown[] {
    let payloads: unknown[] | undefined;
    let data = this.#data;
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (end === at) {
        if (data !== undefined || this.#isError) {
          // Most chunks contain one event. Pushing to an empty array would allocate room for seventeen.
          const payload =
            data === undefined || this.#isError ? errorIn(data) : (this.#parse(data) ?? parsePayload(data));
          if (payloads === undefined) payloads = [payload];
          else payloads.push(payload);
          data = undefined;
          this.#isError = false;
        }
      } else if (text.startsWith('data:', at)) {
        const line = text.slice(text.charCodeAt(at + 5) === blank ? at + 6 : at + 5, end);
        data = data === undefined ? line : joined(data, line);
      } else if (end - at === 4 && text.startsWith('data', at)) {
        data = data === undefined ? '' : joined(data, '');
      } else if (text.startsWith('event:', at)) {
        this.#isError = text.startsWith('error\n', at + 7) || text.startsWith('error\n', at + 6);
      } else if (!dropped.test(text.slice(at, end))) {
        payloads ??= [];
        payloads.push(new MalformedPayload(text.slice(at, end)));
      }
      at = end + 1;
    }
    this.#data = data;
    return payloads ?? none;
  }
}

/** Returns the payload of an error, which is malformed if it does not say anything. */
function errorIn(data: string = '{}'): unknown {
  const payload = parsePayload(data);
  return holdsData(payload) ? payload : new MalformedPayload(data);
}

/** Returns the data of an event with another line. */
function joined(before: string, line: string): string {
  const data = `${before}\n${line}`;
  if (data.length > maxFrameBytes) throw frameTooLarge();
  return data;
}
