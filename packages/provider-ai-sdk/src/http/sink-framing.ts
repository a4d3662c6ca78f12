import type { Framing } from '@cobbler/agent/provider';
import type { SinkCall } from '../values/sink-call.ts';

/**
 * The sink calls of each chunk. The SDK has already read the bytes, so an empty chunk passes its sink calls through
 * the body reader without serializing them.
 */
const carried = new WeakMap<Uint8Array, readonly SinkCall[]>();

/** A chunk without sink calls, which only reports activity. */
const silent = new Uint8Array(0);

/** Returns a chunk that carries these sink calls. */
export function chunkOf(words: readonly SinkCall[]): Uint8Array {
  if (words.length === 0) return silent;
  const chunk = new Uint8Array(0);
  carried.set(chunk, words);
  return chunk;
}

/** Reads a response body as sink calls. Its content types are those of model responses that stream. */
export const sinkFraming: Framing = {
  contentTypes: ['text/event-stream', 'application/vnd.amazon.eventstream'],
  // An unknown event is passed on as it is, to be checked for data.
  open: () => ({
    push: (chunk) => carried.get(chunk)?.map((word) => (word.say === 'unknown' ? word.event : word)) ?? [],
    end: () => [],
  }),
};

/** Returns true if a body of this type may be a model's response. Servers that send no type are trusted. */
export function isStream(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' || (typeof sinkFraming === 'object' && sinkFraming.contentTypes.includes(type));
}
