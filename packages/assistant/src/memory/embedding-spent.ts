import type { Spending } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';

/** Describes a request to an embedder. Input that the service does not count is estimated at four characters per token. */
export function embeddingSpent(model: string, texts: readonly string[], counted?: number): Spending {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  const usage =
    counted === undefined
      ? { inputTokens: Math.ceil(characters / 4), outputTokens: 0, estimated: true }
      : { inputTokens: counted, outputTokens: 0 };
  return { who: 'embedding', model, spent: { usage, wasted: noUsage, attempts: 1, durationMs: 0 } };
}
