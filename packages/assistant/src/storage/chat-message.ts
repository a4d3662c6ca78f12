import type { Reader } from '@cobbler/agent/input';
import { oneOf, record, text, withMethods } from '@cobbler/agent/input';

/** A stored message of a chat: the table of requirement S3.10. */
export interface ChatMessage {
  /** A nanoid. Saving a message again with the same id changes nothing. */
  readonly id: string;
  readonly chatId: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Time as ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** Stores the messages of conversations. */
export interface MessageStore {
  /** Saves a message. Returns false if it already exists. */
  add(message: ChatMessage): Promise<boolean>;
  /**
   * Returns the last messages of a chat, oldest first, starting after the chat's latest fresh start. `upTo` is the id
   * of the newest message to return.
   */
  recent(chatId: string, count: number, upTo?: string): Promise<readonly ChatMessage[]>;
  /** Returns messages that are not summarized yet, oldest first, without the newest `keep`. */
  unsummarised(chatId: string, keep: number, limit: number): Promise<readonly ChatMessage[]>;
  /** Marks all messages up to this one as summarized. */
  summarised(chatId: string, upTo: string): Promise<void>;
  /** Starts a new conversation, which older messages are not part of. They remain stored. */
  startFresh(chatId: string): Promise<void>;
  /** Returns all messages of a chat, oldest first. */
  all(chatId: string): AsyncIterable<ChatMessage>;
  /** Deletes a chat's messages. Returns their number. */
  forget(chatId: string): Promise<number>;
}

/** Reads a message. */
export const readMessage: Reader<ChatMessage> = record<ChatMessage>(
  { id: text, chatId: text, role: oneOf('user', 'assistant'), content: text, createdAt: text },
  ['id', 'chatId', 'role', 'content', 'createdAt'],
);

/** Reads a store of messages. */
export const readMessages: Reader<MessageStore> = withMethods(
  ...(['add', 'recent', 'unsummarised', 'summarised', 'startFresh', 'all', 'forget'] as const),
);
