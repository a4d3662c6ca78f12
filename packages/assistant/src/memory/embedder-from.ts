import { AgentError } from '@cobbler/agent';
import { listOf, read, record, when, withArguments } from '@cobbler/agent/input';
import type { Embedder, EmbedOptions } from './embedder.ts';
import { embedArguments, embedderReaders } from './embedder.ts';

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
    options: EmbedOptions,
  ): Promise<readonly (readonly number[] | Float32Array)[]>;
}

const readParts = record<EmbedderParts>(
  {
    ...embedderReaders,
    maxAtOnce: when((value) => Number.isInteger(value) && Number(value) > 0, 'a whole number of at least 1'),
  },
  ['name', 'dimensions', 'floor', 'embed'],
);

const readVectors = listOf(
  when<readonly number[] | Float32Array>(
    (value) =>
      value instanceof Float32Array ||
      (Array.isArray(value) && value.every((one) => typeof one === 'number')),
    'an array of numbers or a Float32Array',
  ),
);

/**
 * Creates an embedder from any embedding function, such as the AI SDK's `embedMany`.
 * @throws AgentError `invalid` for an invalid option.
 */
export function embedderFrom(parts: EmbedderParts): Embedder {
  const { name, dimensions, floor, maxAtOnce = 96, embed } = read(parts, readParts, 'parts');
  const embedder: Embedder = {
    name,
    dimensions,
    floor,
    async embed(texts, purpose, options = {}) {
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += maxAtOnce) {
        const some = texts.slice(at, at + maxAtOnce);
        const given = read(
          await call(() => embed(some, purpose, options)),
          readVectors,
          'vectors',
          'bad_answer',
        );
        if (given.length !== some.length) {
          const message = `The embedder ${name} returned the wrong number of vectors: ${given.length}, not ${some.length}.`;
          throw new AgentError({ kind: 'agent', code: 'embedding', message });
        }
        for (const vector of given) vectors.push(Float32Array.from(vector));
      }
      return vectors;
    },
  };
  return withArguments(embedder, { embed: embedArguments });
}

async function call<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw AgentError.from(error);
  }
}
