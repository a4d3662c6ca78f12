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

/** The response that frames in their usual spelling go to directly. */
interface Shortcut {
  readonly wire: Pick<Wire, 'read'>;
  readonly out: ResponseSink;
}

/** Returns the framing that a wire names or provides. */
export function framingOf(wire: Pick<Wire, 'framing' | 'read'>): OpenFraming {
  const { framing } = wire;
  const shortcut = (out: ResponseSink) => (wire.read === undefined ? undefined : { wire, out });
  if (framing === 'sse') return { contentTypes: sseTypes, open: (out) => new SseFramer(shortcut(out)) };
  if (framing === 'ndjson')
    return { contentTypes: ndjsonTypes, open: (out) => new NdjsonFramer(shortcut(out)) };
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
  readonly #short: Shortcut | undefined;

  constructor(shortcut?: Shortcut) {
    this.#short = shortcut;
  }

  push(bytes: Uint8Array, sink: PayloadSink): void {
    this.#split(this.#lines.push(bytes), sink);
  }

  end(sink: PayloadSink): void {
    this.#split(this.#lines.rest(), sink);
  }

  #split(text: string, sink: PayloadSink): void {
    const short = this.#short;
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end);
      if (line.trim() !== '' && short?.wire.read?.(line, short.out) !== true) sink.payload(parseJson(line));
      at = end + 1;
    }
  }
}

const blank = 32;

/** Matches a line that may be dropped besides a name: a comment, an id, a delay. */
const dropped = /^(:|event$|(id|retry)(:|$))/;

/**
 * Splits a body of server-sent events into the JSON of their data. Names, ids and comments are ignored: the payload
 * contains its type, and a comment only shows that the connection is alive. A line that is none of these, and an error
 * without data, are malformed.
 */
export class SseFramer implements BodyReader {
  readonly #lines = new LineText();
  readonly #short: Shortcut | undefined;
  /** Data lines of the incomplete event. */
  #data: string | undefined;
  /** True if the incomplete event is named as an error. */
  #isError = false;

  constructor(shortcut?: Shortcut) {
    this.#short = shortcut;
  }

  push(bytes: Uint8Array, sink: PayloadSink): void {
    const text = this.#lines.push(bytes);
    if (text !== '') this.#split(text, sink);
  }

  /** Completes the last event; some servers omit the blank line after it. */
  end(sink: PayloadSink): void {
    const rest = this.#lines.rest();
    if (rest !== '' || this.#data !== undefined) this.#split(`${rest}\n`, sink);
    this.#data = undefined;
  }

  #split(text: string, sink: PayloadSink): void {
    const short = this.#short;
    let data = this.#data;
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (end === at) {
        if (this.#isError) sink.payload(errorIn(data));
        else if (data !== undefined && short?.wire.read?.(data, short.out) !== true)
          sink.payload(parsePayload(data));
        data = undefined;
        this.#isError = false;
      } else if (text.startsWith('data:', at)) {
        const line = text.slice(text.charCodeAt(at + 5) === blank ? at + 6 : at + 5, end);
        data = data === undefined ? line : joined(data, line);
      } else if (end - at === 4 && text.startsWith('data', at)) {
        data = data === undefined ? '' : joined(data, '');
      } else if (text.startsWith('event:', at)) {
        this.#isError = text.startsWith('error\n', at + 7) || text.startsWith('error\n', at + 6);
      } else if (!dropped.test(text.slice(at, end))) {
        sink.payload(new MalformedPayload(text.slice(at, end)));
      }
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
