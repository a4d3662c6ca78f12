/**
 * The part of a Vectorize binding that is used: https://developers.cloudflare.com/vectorize/reference/client-api/ A
 * call resolves when it is accepted; written vectors appear in results seconds to minutes later.
 */
export interface Vectorize {
  upsert(vectors: VectorizeEntry[]): Promise<unknown>;
  query(vector: number[], options: VectorizeQuery): Promise<VectorizeMatches>;
  getByIds(ids: string[]): Promise<readonly { readonly id: string }[]>;
  deleteByIds(ids: string[]): Promise<unknown>;
}

/** A vector to write. */
export interface VectorizeEntry {
  /** Id of at most 64 bytes. */
  readonly id: string;
  readonly values: number[];
  /** Namespace of at most 64 bytes. A query in a namespace returns only its vectors. */
  readonly namespace: string;
}

/** Query options besides the vector. */
export interface VectorizeQuery {
  /** Number of results, at most 100. */
  readonly topK: number;
  readonly namespace: string;
}

/** Results of a query, the best first. */
export interface VectorizeMatches {
  readonly matches: readonly {
    readonly id: string;
    /** The cosine, for an index created with `--metric=cosine`. */
    readonly score: number;
  }[];
}
