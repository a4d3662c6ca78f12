import type { Spending } from '@cobbler/agent';
import type { Reader, Readers } from '@cobbler/agent/input';
import { callable, count, listOf, oneOf, optional, record, signal, text, when } from '@cobbler/agent/input';

/** Options of the requests to an embedder. */
export interface EmbedOptions {
  readonly signal?: AbortSignal;
  /** Receives the usage of each request that costs money. */
  readonly onSpent?: (spending: Spending) => void | Promise<void>;
}

/** The readers of {@link EmbedOptions}. */
export const embedReaders: Readers<EmbedOptions> = { signal, onSpent: callable };

/** Converts texts to vectors that are close for similar texts. */
export interface Embedder {
  /** Name of the model and its version. Vectors with different names are never compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Minimum cosine of related texts, which differs considerably between models. */
  readonly floor: number;
  /** Returns a vector for each text: `document` for stored texts, `query` for searches. Some models distinguish them. */
  embed(
    texts: readonly string[],
    purpose: 'document' | 'query',
    options?: EmbedOptions,
  ): Promise<readonly Float32Array[]>;
}

/** The readers of the properties of an embedder. */
export const embedderReaders: Readers<Embedder> = {
  name: text,
  dimensions: count,
  floor: when((value) => Number.isFinite(value), 'a number'),
  embed: callable,
};

const required = ['name', 'dimensions', 'floor', 'embed'] as const;

/** Reads an embedder. */
export const readEmbedder: Reader<Embedder> = record<Embedder>(embedderReaders, required);

/** The readers of the arguments of {@link Embedder.embed}. */
export const embedArguments: Readonly<Record<string, Reader<unknown>>> = {
  texts: listOf(text),
  purpose: oneOf('document', 'query'),
  options: optional(record<EmbedOptions>(embedReaders)),
};
