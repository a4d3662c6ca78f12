/** A fact to remember about a chat. */
export interface Memory {
  /** Id derived from the summarized messages, so that adding the memory again changes nothing. */
  readonly id: string;
  readonly chatId: string;
  readonly text: string;
  /** Time as ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** A memory in search results. */
export interface Recalled extends Memory {
  /** Similarity, from 0 to 1. */
  readonly score: number;
}

/** Number of memories to return, and their minimum score. */
export interface Recall {
  /** Maximum number of memories. Default 5. */
  readonly limit?: number;
  /** Minimum score. Default: that of the index, which depends on its embedder. */
  readonly floor?: number;
}

/** Finds memories by meaning, or by keyword if necessary. Results never belong to another chat. */
export interface MemoryIndex {
  add(memories: readonly Memory[], options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Returns matching memories, best first. */
  search(
    chatId: string,
    query: string,
    recall?: Recall & { readonly signal?: AbortSignal },
  ): Promise<readonly Recalled[]>;
  list(chatId: string): Promise<readonly Memory[]>;
  /** Deletes a chat's memories. Returns their number. */
  forget(chatId: string): Promise<number>;
}
