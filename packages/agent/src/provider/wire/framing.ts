import { NdjsonFramer } from './ndjson.ts';
import { SseFramer } from './sse.ts';
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
