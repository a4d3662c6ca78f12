import type { Framing } from '@cobbler/agent/provider';
import type { SinkPayload } from '../values/sink-call.ts';

/**
 * The sink calls of each chunk. The SDK has already read the bytes, so an empty chunk passes its sink calls through
 * the body reader without serializing them.
 */
const carried = new WeakMap<Uint8Array, readonly SinkPayload[]>();

/** Returns a chunk that carries these sink calls. Without any, it only reports activity. */
export function chunkOf(words: readonly SinkPayload[]): Uint8Array {
  const chunk = new Uint8Array(0);
  carried.set(chunk, words);
  return chunk;
}

/** The content types of model responses that stream. */
const contentTypes = ['text/event-stream', 'application/vnd.amazon.eventstream'];

/** Reads a response body as sink calls. */
export const sinkFraming: Framing = {
  contentTypes,
  open: () => ({ push: (chunk) => carried.get(chunk) ?? [], end: () => [] }),
};

/** Returns true if a body of this type may be a model's response. Servers that send no type are trusted. */
export function isStream(contentType = ''): boolean {
  const [type = ''] = contentType.toLowerCase().split(';');
  return ['', ...contentTypes].includes(type.trim());
}
