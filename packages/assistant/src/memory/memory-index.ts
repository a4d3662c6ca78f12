import type { Reader, Readers } from '@cobbler/agent/input';
import { amount, listOf, optional, record, text, withArguments, withMethods } from '@cobbler/agent/input';
import type { EmbedOptions } from './embedder.ts';
import { embedReaders } from './embedder.ts';

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
  add(memories: readonly Memory[], options?: EmbedOptions): Promise<void>;
  /** Returns matching memories, best first. */
  search(chatId: string, query: string, recall?: Recall & EmbedOptions): Promise<readonly Recalled[]>;
  list(chatId: string): Promise<readonly Memory[]>;
  /** Deletes a chat's memories. Returns their number. */
  forget(chatId: string): Promise<number>;
}

/** Reads an index of memories. */
export const readMemoryIndex: Reader<MemoryIndex> = withMethods('add', 'search', 'list', 'forget');

const readMemory = record<Memory>({ id: text, chatId: text, text, createdAt: text }, [
  'id',
  'chatId',
  'text',
  'createdAt',
]);

/** The readers of {@link Recall}. */
export const recallReaders: Readers<Recall> = { limit: amount, floor: amount };

/** Makes the functions of an index read their arguments. */
export function withReadMemories(index: MemoryIndex): MemoryIndex {
  return withArguments(index, {
    add: {
      memories: listOf(readMemory),
      options: optional(record<EmbedOptions>(embedReaders)),
    },
    search: {
      chatId: text,
      query: text,
      recall: optional(record<Recall & EmbedOptions>({ ...recallReaders, ...embedReaders })),
    },
    list: { chatId: text },
    forget: { chatId: text },
  });
}
