import type { Framing } from '@cobbler/agent/provider';
import type { SinkCall } from '../values/sink-call.ts';

/**
 * The event of a chunk. The SDK has already read the bytes, so an empty chunk passes the event through the body reader
 * without serializing it again.
 */
const carried = new WeakMap<Uint8Array, readonly SinkCall[]>();

/** Stands for bytes that say nothing: a sign of life. */
const silent = new Uint8Array(0);

/** A chunk that stands for these words. */
export function chunkOf(words: readonly SinkCall[]): Uint8Array {
  if (words.length === 0) return silent;
  const chunk = new Uint8Array(0);
  carried.set(chunk, words);
  return chunk;
}

/** The body of an answer as words. Its types are those of the streams that language models answer with. */
export const sinkFraming: Framing = {
  contentTypes: ['text/event-stream', 'application/vnd.amazon.eventstream'],
  open: () => ({ push: (chunk) => carried.get(chunk) ?? [], end: () => [] }),
};

/** True if a body of this type may be a model's response. Servers that send no type are trusted. */
export function isStream(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' || (typeof sinkFraming === 'object' && sinkFraming.contentTypes.includes(type));
}
