import { defined } from '@cobbler/agent/values';
import type { Embedder } from '@cobbler/assistant';
import { httpEmbedder, lexicalEmbedder } from '@cobbler/assistant';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** An embedder and its description for the user. */
export interface ChosenEmbedder {
  readonly embedder: Embedder;
  readonly words: string;
}

/** Dimensions and similarity floors of known models. Each floor is between the cosines of related and unrelated pairs. */
const known: Readonly<Record<string, { readonly dimensions: number; readonly floor: number }>> = {
  'text-embedding-3-small': { dimensions: 1536, floor: 0.3 },
  'text-embedding-3-large': { dimensions: 3072, floor: 0.3 },
};

const defaultFloor = 0.5;

/**
 * Creates the requested embedder: `openai`, `openai:MODEL`, or `URL#MODEL`. By default, memory is searched by keyword.
 * @throws UsageError for any other value, for a missing key, and if an unknown model does not respond.
 */
export async function chooseEmbedder(
  given: string | undefined,
  floor: number | undefined,
  env: Environment,
): Promise<ChosenEmbedder> {
  if (given === undefined || given === 'lexical') {
    const words = 'by keyword, not by meaning: only notes that share words with your message are found';
    return { embedder: lexicalEmbedder(), words };
  }
  const place = placeOf(given, env);
  const { baseURL, model } = place;
  const shape = known[model] ?? { dimensions: await dimensionsOf(place), floor: defaultFloor };
  const embedder = httpEmbedder({ ...place, ...shape, ...defined({ floor }) });
  return { embedder, words: `by meaning: ${model} at ${new URL(baseURL).host}` };
}

interface EmbedderEndpoint {
  readonly baseURL: string;
  readonly model: string;
  readonly apiKey?: string;
}

/** Returns the endpoint of an embedder. A provider's key is sent to that provider only. */
function placeOf(given: string, env: Environment): EmbedderEndpoint {
  const openai = /^openai(?::(\S+))?$/.exec(given);
  if (openai !== null) {
    const apiKey = env['OPENAI_API_KEY']?.trim();
    const baseURL = env['OPENAI_BASE_URL']?.trim() || 'https://api.openai.com/v1';
    if (apiKey === undefined || apiKey === '')
      throw new UsageError(
        'There is no key for OpenAI embeddings: OPENAI_API_KEY is not set.',
        'Set it, or remove --embedder to search memory by keyword.',
      );
    return { baseURL, apiKey, model: openai[1] ?? 'text-embedding-3-small' };
  }
  const [baseURL = '', model = ''] = given.split('#');
  if (!/^https?:\/\/\S+$/.test(baseURL) || model === '')
    throw new UsageError(
      `--embedder cannot be ${JSON.stringify(given)}.`,
      'Use openai, openai:MODEL, or URL#MODEL such as http://localhost:11434/v1#nomic-embed-text',
    );
  const apiKey = env['COBBLER_EMBEDDER_API_KEY']?.trim();
  return { baseURL, model, ...(apiKey !== undefined && apiKey !== '' && { apiKey }) };
}

/** Requests an embedding, because only the model knows the length of its vectors. */
async function dimensionsOf(place: EmbedderEndpoint): Promise<number> {
  try {
    const probe = httpEmbedder({ ...place, dimensions: 1, floor: defaultFloor });
    const [vector] = await probe.embed(['How long is this?'], 'document');
    return vector?.length ?? 1;
  } catch (error) {
    throw new UsageError(
      `The embedder ${place.model} failed: ${error instanceof Error ? error.message : String(error)}`,
      'To search memory by keyword instead, remove --embedder.',
    );
  }
}
