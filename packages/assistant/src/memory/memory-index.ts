/** Something worth remembering about a chat. */
export interface Memory {
  /** Derived from what was summarised, so that remembering it again changes nothing. */
  readonly id: string;
  readonly chatId: string;
  readonly text: string;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** A memory that was found. */
export interface Recalled extends Memory {
  /** Similarity, from 0 to 1. */
  readonly score: number;
}

/** Number of memories, and their minimum score. */
export interface Recall {
  /** Maximum memories. Default 5. */
  readonly limit?: number;
  /** Nothing below this score. Default: the index's own, which goes with its embedder. */
  readonly floor?: number;
}

/** Finds memories by meaning, or by words where nothing better is at hand. Never those of another chat. */
export interface MemoryIndex {
  add(memories: readonly Memory[], options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Best first. */
  search(
    chatId: string,
    query: string,
    recall?: Recall & { readonly signal?: AbortSignal },
  ): Promise<readonly Recalled[]>;
  list(chatId: string): Promise<readonly Memory[]>;
  /** Deletes a chat's memories and says how many there were. */
  forget(chatId: string): Promise<number>;
}
