/**
 * As much of a Vectorize binding as is used: https://developers.cloudflare.com/vectorize/reference/client-api/
 * What is written is answered with seconds to minutes later; a call resolves when it is accepted.
 */
export interface Vectorize {
  upsert(vectors: VectorizeEntry[]): Promise<unknown>;
  query(vector: number[], options: VectorizeQuery): Promise<VectorizeMatches>;
  getByIds(ids: string[]): Promise<readonly { readonly id: string }[]>;
  deleteByIds(ids: string[]): Promise<unknown>;
}

/** A vector as it is written. */
export interface VectorizeEntry {
  /** At most 64 bytes. */
  readonly id: string;
  readonly values: number[];
  /** At most 64 bytes. A query in a namespace sees nothing else. */
  readonly namespace: string;
}

/** Query options besides the vector. */
export interface VectorizeQuery {
  /** At most 100. */
  readonly topK: number;
  readonly namespace: string;
}

/** Results of a query, the best first. */
export interface VectorizeMatches {
  readonly matches: readonly {
    readonly id: string;
    /** The cosine, in an index made with `--metric=cosine`. */
    readonly score: number;
  }[];
}
