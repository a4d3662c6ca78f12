import { AgentError } from '@cobbler/agent';
import type { Embedder } from './embedder.ts';

/** The parts of `embedderFrom`: a model and a function that calls it. */
export interface EmbedderParts {
  /** Names the model and its version: memories are embedded anew when it changes. */
  readonly name: string;
  readonly dimensions: number;
  /** Below this cosine texts have nothing to do with each other. Measure it with the texts you have. */
  readonly floor: number;
  /** Maximum texts per call. Default 96. */
  readonly maxAtOnce?: number;
  embed(
    texts: readonly string[],
    purpose: 'document' | 'query',
    options: { readonly signal?: AbortSignal },
  ): Promise<readonly (readonly number[] | Float32Array)[]>;
}

/** An embedder over any function that embeds, such as one around the AI SDK's `embedMany`. */
export function embedderFrom(parts: EmbedderParts): Embedder {
  const { name, dimensions, floor, maxAtOnce = 96 } = parts;
  return {
    name,
    dimensions,
    floor,
    async embed(texts, purpose, options = {}) {
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += maxAtOnce) {
        const some = texts.slice(at, at + maxAtOnce);
        const given = await call(() => parts.embed(some, purpose, options));
        if (given.length !== some.length) {
          const message = `The embedder ${name} returned ${given.length} vectors for ${some.length} texts.`;
          throw new AgentError({ kind: 'agent', code: 'embedding', message });
        }
        for (const vector of given) vectors.push(Float32Array.from(vector));
      }
      return vectors;
    },
  };
}

async function call<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw AgentError.from(error);
  }
}
