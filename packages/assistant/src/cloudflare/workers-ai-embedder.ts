import { AgentError } from '@cobbler/agent';
import { read, record, text, withMethods } from '@cobbler/agent/input';
import type { Embedder } from '../memory/embedder.ts';
import { embedderReaders } from '../memory/embedder.ts';
import { embedderFrom } from '../memory/embedder-from.ts';
import { embeddingSpent } from '../memory/embedding-spent.ts';

/** The part of a Workers AI binding that is used. */
export interface WorkersAi {
  run(model: string, input: { readonly text: string[] }): Promise<unknown>;
}

/** Properties of a model. The minimum cosines are taken from descriptions of such models, not measured. */
interface EmbeddingModel {
  readonly dimensions: number;
  readonly floor: number;
}

const knownModels: Readonly<Record<string, EmbeddingModel>> = {
  '@cf/baai/bge-m3': { dimensions: 1024, floor: 0.5 },
  '@cf/baai/bge-small-en-v1.5': { dimensions: 384, floor: 0.65 },
  '@cf/baai/bge-base-en-v1.5': { dimensions: 768, floor: 0.65 },
  '@cf/baai/bge-large-en-v1.5': { dimensions: 1024, floor: 0.65 },
};

/** Options of {@link workersAiEmbedder}: the binding and the model. */
export interface WorkersAiEmbedderOptions {
  readonly ai: WorkersAi;
  /** Default: `@cf/baai/bge-m3`, which supports a hundred languages. */
  readonly model?: string;
  /** Number of dimensions of the model's vectors; required for an unknown model. */
  readonly dimensions?: number;
  /** Minimum cosine of related texts; required for an unknown model. */
  readonly floor?: number;
}

const readOptions = record<WorkersAiEmbedderOptions>(
  {
    ai: withMethods('run'),
    model: text,
    dimensions: embedderReaders.dimensions,
    floor: embedderReaders.floor,
  },
  ['ai'],
);

/**
 * Creates an embedder that uses Workers AI.
 * @throws AgentError `invalid` for an invalid option; code `embedder` if the model is unknown and `dimensions` or `floor` is missing.
 */
export function workersAiEmbedder(options: WorkersAiEmbedderOptions): Embedder {
  const given = read(options, readOptions);
  const { ai, model = '@cf/baai/bge-m3' } = given;
  const known = Object.hasOwn(knownModels, model) ? knownModels[model] : undefined;
  const { dimensions = known?.dimensions, floor = known?.floor } = given;
  if (dimensions === undefined || floor === undefined) {
    const message = `The model ${model} is unknown. Set the number of dimensions of its vectors and the minimum cosine similarity of related texts, or use one of ${Object.keys(knownModels).join(', ')}.`;
    throw new AgentError({ kind: 'invalid', code: 'embedder', message });
  }
  return embedderFrom({
    name: `workers-ai:${model}`,
    dimensions,
    floor,
    maxAtOnce: 100,
    // The binding does not support an abort signal: the caller stops waiting.
    embed: async (texts, _, { onSpent }) => {
      const answer = await ai.run(model, { text: [...texts] });
      await onSpent?.({ ...embeddingSpent(model, texts), provider: 'workers-ai' });
      return dataOf(answer, model);
    },
  });
}

function dataOf(answer: unknown, model: string): number[][] {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  if (Array.isArray(data) && data.every((vector) => Array.isArray(vector))) return data;
  const message = `Workers AI returned no embeddings for ${model}.`;
  throw new AgentError({ kind: 'agent', code: 'embedding', message });
}
