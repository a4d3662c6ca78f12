/** Converts texts to vectors that are close for similar texts. */
export interface Embedder {
  /** Name of the model and its version. Vectors with different names are never compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Minimum cosine of related texts, which differs considerably between models. */
  readonly floor: number;
  /**
   * Returns a vector for each text. `document` is for stored texts and `query` for searches; some models distinguish
   * them.
   */
  embed(
    texts: readonly string[],
    purpose: 'document' | 'query',
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}
