import { frameTooLarge, LineText, maxFrameBytes } from '../../values/line-text.ts';
import { holdsData, MalformedPayload, parseJson, parsePayload } from './payload.ts';
import type { Framer, ResponseSink, Wire } from './wire.ts';

/** Receives the payloads of a body. */
export interface PayloadSink {
  payload(payload: unknown): void;
}

/** Splits a body into payloads. Throws if the body is invalid. */
export interface BodyReader {
  /** Passes on the payloads that these bytes complete. */
  push(bytes: Uint8Array, sink: PayloadSink): void;
  /** Passes on the payloads that the normal end of the body completes. */
  end(sink: PayloadSink): void;
}

/** A framing with its content types. */
export interface OpenFraming {
  /** In lower case, without parameters. The first is sent in the `accept` header. */
  readonly contentTypes: readonly string[];
  /** Returns a reader for one body. Frames that the wire's own `read` accepts go directly to `out`. */
  open(out: ResponseSink): BodyReader;
}

const sseTypes = ['text/event-stream'];
const ndjsonTypes = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/json-lines',
];

/** Returns the framing that a wire names or provides. */
export function framingOf(wire: Pick<Wire, 'framing' | 'read'>): OpenFraming {
  const { framing } = wire;
  if (framing === 'sse') return { contentTypes: sseTypes, open: (out) => new SseFramer(wire, out) };
  if (framing === 'ndjson') return { contentTypes: ndjsonTypes, open: (out) => new NdjsonFramer(wire, out) };
  return {
    contentTypes: framing.contentTypes.map((type) => type.toLowerCase()),
    open: () => new OwnFramer(framing.open()),
  };
}

/** Returns whether a body of this type can be read. A missing type is accepted. */
export function accepts(framing: OpenFraming, contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' || framing.contentTypes.includes(type);
}

/** Reads a body with the framer of a wire. */
class OwnFramer implements BodyReader {
  readonly #framer: Framer;

  constructor(framer: Framer) {
    this.#framer = framer;
  }

  push(bytes: Uint8Array, sink: PayloadSink): void {
    for (const payload of this.#framer.push(bytes)) sink.payload(payload);
  }

  end(sink: PayloadSink): void {
    let payloads: unknown[];
    try {
      payloads = [...this.#framer.end()];
    } catch {
      return;
    }
    for (const payload of payloads) sink.payload(payload);
  }
}

/** Splits a body into lines of JSON. Blank lines only show that the connection is alive. */
export class NdjsonFramer implements BodyReader {
  readonly #lines = new LineText();
  readonly #wire: Pick<Wire, 'read'>;
  /** The response that frames in their usual spelling go to directly. */
  readonly #out: ResponseSink | undefined;

  constructor(wire: Pick<Wire, 'read'> = {}, out?: ResponseSink) {
    this.#wire = wire;
    this.#out = out;
  }

  push(bytes: Uint8Array, sink: PayloadSink): void {
    this.#split(this.#lines.push(bytes), sink);
  }

  end(sink: PayloadSink): void {
    this.#split(this.#lines.rest(), sink);
  }

  #split(text: string, sink: PayloadSink): void {
    const wire = this.#wire;
    const out = this.#out;
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end);
      if (line.trim() !== '' && (out === undefined || wire.read?.(line, out) !== true))
        sink.payload(parseJson(line));
      at = end + 1;
    }
  }
}

const blank = 32;
const lineFeed = 10;
const letterD = 100;
const letterE = 101;

/** Matches a line that may be dropped besides a name: a comment, an id, a delay. */
const dropped = /^(:|event$|(id|retry)(:|$))/;

/**
 * Splits a body of server-sent events into the JSON of their data. Names, ids and comments are ignored: the payload
 * contains its type, and a comment only shows that the connection is alive. A line that is none of these, and an error
 * without data, are malformed.
 */
export class SseFramer implements BodyReader {
  readonly #lines = new LineText();
  readonly #wire: Pick<Wire, 'read'>;
  /** The response that frames in their usual spelling go to directly. */
  readonly #out: ResponseSink | undefined;
  /** Data lines of the incomplete event. */
  #data: string | undefined;
  /** True if the incomplete event is named as an error. */
  #isError = false;

  constructor(wire: Pick<Wire, 'read'> = {}, out?: ResponseSink) {
    this.#wire = wire;
    this.#out = out;
  }

  push(bytes: Uint8Array, sink: PayloadSink): void {
    this.#split(this.#lines.push(bytes), sink);
  }

  /** Completes the last event; some servers omit the blank line after it. */
  end(sink: PayloadSink): void {
    if (this.#lines.length === 0 && this.#data === undefined) return;
    this.#split(`${this.#lines.rest()}\n`, sink);
    this.#data = undefined;
  }

  #split(text: string, sink: PayloadSink): void {
    const wire = this.#wire;
    const out = this.#out;
    let data = this.#data;
    let at = 0;
    while (at < text.length) {
      let end = text.indexOf('\n', at);
      // The first characters are compared as numbers, because a call of `startsWith` for each line costs more.
      const first = text.charCodeAt(at);
      if (first === letterD && text.startsWith('data:', at)) {
        const line = text.slice(text.charCodeAt(at + 5) === blank ? at + 6 : at + 5, end);
        data = data === undefined ? line : joined(data, line);
        // Usually the event ends after one line of data.
        if (text.charCodeAt(end + 1) === lineFeed) end += 1;
        else {
          at = end + 1;
          continue;
        }
      } else if (end > at) {
        if (first === letterE && text.startsWith('event:', at)) {
          const name = text.charCodeAt(at + 6) === blank ? at + 7 : at + 6;
          this.#isError = text.charCodeAt(name) === letterE && text.startsWith('error\n', name);
        } else if (end - at === 4 && text.startsWith('data', at))
          data = data === undefined ? '' : joined(data, '');
        else if (!dropped.test(text.slice(at, end))) sink.payload(new MalformedPayload(text.slice(at, end)));
        at = end + 1;
        continue;
      }
      if (this.#isError) sink.payload(errorIn(data));
      else if (data !== undefined && (out === undefined || wire.read?.(data, out) !== true))
        sink.payload(parsePayload(data));
      data = undefined;
      this.#isError = false;
      at = end + 1;
    }
    this.#data = data;
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
