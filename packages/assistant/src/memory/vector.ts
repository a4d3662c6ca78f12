import { AgentError } from '@cobbler/agent';
import type { Embedder, EmbedOptions } from './embedder.ts';

/** Returns the cosine of two vectors of one embedder: 1 for the same direction, 0 for unrelated ones. */
export function cosine(one: Float32Array, other: Float32Array): number {
  let product = 0;
  let ones = 0;
  let others = 0;
  for (let index = 0; index < one.length; index += 1) {
    const a = one[index] ?? 0;
    const b = other[index] ?? 0;
    product += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones === 0 || others === 0 ? 0 : product / Math.sqrt(ones * others);
}

/** True if the memory layout of numbers equals that of the column, as on all common machines. */
const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Converts a vector to the bytes of a column: 32-bit little-endian floats on every machine. */
export function bytesOf(vector: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true);
  return new Uint8Array(view.buffer);
}

/** Converts the bytes of a column to a vector. */
export function vectorIn(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const length = byteLength >> 2;
  if (isLittleEndian && byteOffset % 4 === 0) return new Float32Array(buffer, byteOffset, length);
  const view = new DataView(buffer, byteOffset, byteLength);
  return Float32Array.from({ length }, (_, index) => view.getFloat32(index * 4, true));
}

/**
 * Returns a validated vector for each text.
 * @throws AgentError `agent`, code `embedding`, unless there is a usable vector for each text.
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  purpose: 'document' | 'query',
  options: EmbedOptions,
): Promise<readonly Float32Array[]> {
  const vectors = await embedder.embed(texts, purpose, options);
  const wrong = vectors.find(
    (vector) => vector.length !== embedder.dimensions || !vector.every((value) => Number.isFinite(value)),
  );
  if (vectors.length === texts.length && wrong === undefined) return vectors;
  const found =
    wrong === undefined
      ? `the wrong number of vectors (${vectors.length})`
      : 'a vector with a different size or with values that are not numbers';
  const message = `The embedder ${embedder.name} returned ${found}; expected ${texts.length}, each of ${embedder.dimensions} numbers.`;
  throw new AgentError({ kind: 'agent', code: 'embedding', message });
}
