import { withArguments } from '@cobbler/agent/input';
import type { Embedder } from './embedder.ts';
import { embedArguments } from './embedder.ts';
import { contentWords } from './words.ts';

/** Number of dimensions: the maximum that Vectorize supports. */
const dimensions = 1536;

/** Number of dimensions per feature, so that two features that share one of them remain distinct. */
const places = 4;

/** Weight of the parts of a word, relative to the whole word. */
const partShare = 0.5;

/**
 * Creates an embedder without a model or a network. It compares words, not meaning: texts are similar if they share
 * content words, forms of the same word, or words with the same beginning. A question in different words finds
 * nothing. Use the embeddings of a provider to compare meaning.
 */
export function lexicalEmbedder(): Embedder {
  const embedder: Embedder = {
    name: 'lexical-1',
    dimensions,
    floor: 0.17,
    embed: async (texts) => texts.map(vectorOf),
  };
  return withArguments(embedder, { embed: embedArguments });
}

function vectorOf(text: string): Float32Array {
  const weights = new Map<string, number>();
  for (const { stem, weight } of contentWords(text))
    weights.set(stem, Math.max(weights.get(stem) ?? 0, weight));
  const vector = new Float32Array(dimensions);
  for (const [stem, weight] of weights) {
    add(vector, `=${stem}`, weight);
    const parts = partsOf(stem);
    const each = (weight * partShare) / Math.sqrt(Math.max(parts.length, 1));
    for (const part of parts) add(vector, part, each);
  }
  return normalised(vector);
}

/** Returns the sequences of four letters of a word, with its beginning marked, where related words agree. */
function partsOf(stem: string): string[] {
  const marked = `^${stem}`;
  return Array.from({ length: Math.max(marked.length - 3, 0) }, (_, at) => marked.slice(at, at + 4));
}

/** Adds a feature. Half of the features have a negative sign, so that collisions cancel out on average. */
function add(vector: Float32Array, feature: string, weight: number): void {
  let hash = hashOf(feature);
  for (let count = 0; count < places; count += 1) {
    const place = hash % dimensions;
    vector[place] = (vector[place] ?? 0) + ((hash >>> 31) * 2 - 1) * weight;
    hash = mixed(hash + 0x9e3779b9);
  }
}

/** Returns the FNV-1a hash of the UTF-16 code units, mixed so that all bits are equally random. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mixed(hash);
}

function mixed(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0;
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
