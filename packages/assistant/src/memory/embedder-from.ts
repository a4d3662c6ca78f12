import { AgentError } from '@cobbler/agent';
import type { Embedder } from './embedder.ts';

/** Options of {@link embedderFrom}: a model and a function that calls it. */
export interface EmbedderParts {
  /** Name of the model and its version. When it changes, memories are embedded again. */
  readonly name: string;
  readonly dimensions: number;
  /** Minimum cosine of related texts. Measure it with your own texts. */
  readonly floor: number;
  /** Maximum number of texts per call. Default 96. */
  readonly maxAtOnce?: number;
  embed(
    texts: readonly string[],
    purpose: 'document' | 'query',
    options: { readonly signal?: AbortSignal },
  ): Promise<readonly (readonly number[] | Float32Array)[]>;
}

/** Creates an embedder from any embedding function, such as the AI SDK's `embedMany`. */
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
          const message = `The embedder ${name} returned the wrong number of vectors: ${given.length}, not ${some.length}.`;
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
