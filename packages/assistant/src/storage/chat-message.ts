/** A message of a chat as it is kept: the table of requirement S3.10. */
export interface ChatMessage {
  /** A nanoid. Saving a message again under the same id changes nothing. */
  readonly id: string;
  readonly chatId: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
}

/** A conversation's messages. */
export interface MessageStore {
  /** Saves a message. False: it was there already. */
  add(message: ChatMessage): Promise<boolean>;
  /**
   * The last messages of a chat, oldest first, none from before the chat's latest fresh start. `upTo` is the id of
   * a message: nothing newer than it is given.
   */
  recent(chatId: string, count: number, upTo?: string): Promise<readonly ChatMessage[]>;
  /** Messages that are not summarized yet, oldest first, without the newest `keep`. */
  unsummarised(chatId: string, keep: number, limit: number): Promise<readonly ChatMessage[]>;
  /** Marks everything up to a message as summarised. */
  summarised(chatId: string, upTo: string): Promise<void>;
  /** From here on, older messages are no longer part of the conversation. They stay stored. */
  startFresh(chatId: string): Promise<void>;
  /** Everything of a chat, oldest first. */
  all(chatId: string): AsyncIterable<ChatMessage>;
  /** Deletes a chat's messages and says how many there were. */
  forget(chatId: string): Promise<number>;
}
