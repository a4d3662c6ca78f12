/** Turns texts into vectors whose closeness means likeness. */
export interface Embedder {
  /** Names the model and its version: vectors of different names are never compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Below this cosine a text has nothing to do with the other: differs much between models. */
  readonly floor: number;
  /** `document` for what is kept, `query` for what is looked for: some models tell them apart. */
  embed(
    texts: readonly string[],
    purpose: 'document' | 'query',
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}
