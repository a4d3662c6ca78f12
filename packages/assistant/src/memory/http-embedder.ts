import type { ErrorKind, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { read, record, text, withMethods } from '@cobbler/agent/input';
import { defined, serviceCode } from '@cobbler/agent/values';
import type { Embedder } from './embedder.ts';
import { embedderReaders } from './embedder.ts';
import { embedderFrom } from './embedder-from.ts';
import { embeddingSpent } from './embedding-spent.ts';

/** Options of {@link httpEmbedder}: the service and the model. */
export interface HttpEmbedderOptions {
  /** Address including the version: `https://api.example.com/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly dimensions: number;
  /** Minimum cosine of related texts, which differs considerably between models. */
  readonly floor: number;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
}

const { dimensions, floor } = embedderReaders;

const readOptions = record<HttpEmbedderOptions>(
  { baseURL: text, apiKey: text, model: text, dimensions, floor, runtime: withMethods('fetch') },
  ['baseURL', 'model', 'dimensions', 'floor'],
);

/**
 * Creates an embedder for a service with `POST /embeddings`, which many model servers support.
 *
 * `embed` rejects with AgentError `auth`, `rate_limit`, `invalid`, `agent` or `network`, and does not retry.
 * @throws AgentError `invalid` for an invalid option.
 */
export function httpEmbedder(options: HttpEmbedderOptions): Embedder {
  const given = read(options, readOptions);
  const { baseURL, model, dimensions, floor } = given;
  return embedderFrom({
    name: `${baseURL} ${model} ${dimensions}`,
    dimensions,
    floor,
    embed: async (texts, _, { signal, onSpent }) => {
      const answer = await post(given, texts, signal);
      await onSpent?.(embeddingSpent(model, texts, tokensIn(answer)));
      return vectorsIn(answer);
    },
  });
}

async function post(
  { baseURL, apiKey, model, runtime = systemRuntime }: HttpEmbedderOptions,
  input: readonly string[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  let response: Response;
  try {
    response = await runtime.fetch(`${baseURL.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: 'float' }),
      ...defined({ signal }),
    });
    if (response.ok) return await response.json();
  } catch (error) {
    if (signal?.aborted === true)
      throw new AgentError({ kind: 'aborted', code: 'cancelled', message: 'The embedding was cancelled.' });
    const { cause } = AgentError.from(error);
    const message = `The embedding service is unreachable: ${cause?.message ?? 'the connection failed'}`;
    throw new AgentError({ kind: 'network', code: 'connection_failed', message, retryable: true });
  }
  await response.body?.cancel();
  throw refusal(response.status, model);
}

/** Returns the error of a rejected request. Other details of the service may contain the key, and are omitted. */
function refusal(status: number, model: string): AgentError {
  const message = `The embedding service responded with status ${status} for the model ${model}.`;
  const kind = kindOf(status);
  const retryable = kind === 'rate_limit' || kind === 'agent';
  return new AgentError({ kind, code: serviceCode(kind, status), message, status, retryable });
}

function kindOf(status: number): ErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limit';
  return status < 500 ? 'invalid' : 'agent';
}

/** Returns the input tokens that the service counted. */
function tokensIn(answer: unknown): number | undefined {
  const usage = typeof answer === 'object' && answer !== null && 'usage' in answer ? answer.usage : undefined;
  const has = typeof usage === 'object' && usage !== null && 'prompt_tokens' in usage;
  return has && typeof usage.prompt_tokens === 'number' ? usage.prompt_tokens : undefined;
}

function vectorsIn(answer: unknown): number[][] {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  const entries: unknown[] = Array.isArray(data) ? data : [];
  return entries
    .map((entry, at) => ({ at: numberOf(entry, at), vector: vectorOf(entry) }))
    .sort((one, other) => one.at - other.at)
    .map(({ vector }) => vector);
}

function numberOf(entry: unknown, otherwise: number): number {
  const has = typeof entry === 'object' && entry !== null && 'index' in entry;
  return has && typeof entry.index === 'number' ? entry.index : otherwise;
}

function vectorOf(entry: unknown): number[] {
  const has = typeof entry === 'object' && entry !== null && 'embedding' in entry;
  if (has && Array.isArray(entry.embedding)) return entry.embedding.map(Number);
  const message = 'The embedding service responded in an unknown format.';
  throw new AgentError({ kind: 'agent', code: 'embedding', message });
}
