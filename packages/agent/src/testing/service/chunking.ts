import { seededRandom } from './seeded-random.ts';

/**
 * How the bytes of a body are cut into the chunks that are written: one per payload, all at once, of a fixed
 * number of bytes, or at random places. Fixed and random cuts fall anywhere, inside characters too.
 */
export type Chunking = 'payload' | 'whole' | { readonly size: number } | { readonly seed: number };

const encoder = new TextEncoder();

/** The frames of a body as the chunks to write; no chunk is empty. */
export function chunksOf(frames: readonly string[], chunking: Chunking): Uint8Array[] {
  if (chunking === 'payload')
    return frames.filter((frame) => frame !== '').map((frame) => encoder.encode(frame));
  const bytes = encoder.encode(frames.join(''));
  if (chunking === 'whole') return bytes.length === 0 ? [] : [bytes];
  return cut(bytes, 'size' in chunking ? () => chunking.size : randomSizes(chunking.seed));
}

function cut(bytes: Uint8Array, nextSize: () => number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = start + Math.max(1, nextSize());
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

/** Mostly small pieces, now and then a big one: both the cuts inside a frame and several frames at once. */
function randomSizes(seed: number): () => number {
  const random = seededRandom(seed);
  return () => (random.chance(0.7) ? random.between(1, 12) : random.between(1, 400));
}
