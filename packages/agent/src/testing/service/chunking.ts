import { joinBytes } from '../../provider/http/bytes.ts';
import type { Frame } from './provider-testing.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * The way the bytes of a body are split into chunks: one per payload, all in one, of a fixed size, or of random sizes.
 * Fixed and random splits can fall anywhere, even inside characters.
 */
export type Chunking = 'payload' | 'whole' | { readonly size: number } | { readonly seed: number };

const encoder = new TextEncoder();

/** Joins texts and bytes. */
export function joinFrames(frames: readonly Frame[]): Uint8Array {
  return joinBytes(frames.map((frame) => (typeof frame === 'string' ? encoder.encode(frame) : frame)));
}

/** Returns the chunks to write for the frames of a body; no chunk is empty. */
export function chunksOf(frames: readonly Frame[], chunking: Chunking): Uint8Array[] {
  if (chunking === 'payload')
    return frames.filter((frame) => frame.length > 0).map((frame) => joinFrames([frame]));
  const bytes = joinFrames(frames);
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

/**
 * Returns mostly small sizes and sometimes a large one, so that splits fall inside a frame and chunks contain several
 * frames.
 */
function randomSizes(seed: number): () => number {
  const random = seededRandom(seed);
  return () => (random.chance(0.7) ? random.between(1, 12) : random.between(1, 400));
}
