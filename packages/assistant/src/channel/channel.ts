/** A piece of a reply that fits into one message of the channel. */
export interface MessagePart {
  /** Plain text, sent when the markup is refused. */
  readonly text: string;
  /** The same in the channel's own markup. */
  readonly markup?: string;
}

/** A button below a message, which a person can tap. */
export interface Button {
  readonly label: string;
  /** At most 64 bytes: what comes back with the tap. */
  readonly data: string;
}

/** Longest note above a message, in UTF-16 units: the room that each piece leaves. */
export const maxNoteLength = 100;

/** Options of one message. */
export interface SendOptions {
  readonly signal?: AbortSignal;
  readonly buttons?: readonly Button[];
  /** A line of plain text above the message, at most {@link maxNoteLength} long. */
  readonly note?: string;
  /** The channel's id of the message that this one replies to; one that no longer exists is not an error. */
  readonly replyTo?: string;
}

/** A file that is sent as one. */
export interface ChannelFile {
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/**
 * Where messages come from and go to. Calls are made once: who calls decides about another try. They reject with
 * AgentError: `rate_limit` with `retryAfterMs`; `network` or `agent` with `retryable` true when it is sure that
 * nothing was sent; code `maybe_sent` when it is not known; `auth` for a wrong token; `invalid` with code
 * `chat_gone` when the person has blocked the bot or the chat is no more.
 * `channelContract` in the testing entry is what an implementation has to pass.
 */
export interface Channel {
  readonly name: string;
  /** Cuts a reply written in markdown into pieces, the same way each time. */
  pieces(markdown: string): readonly MessagePart[];
  /** Sends one piece and gives the channel's id of the message. */
  send(chatId: string, piece: MessagePart, options?: SendOptions): Promise<string>;
  /** Sends a text as a file and gives the channel's id of the message. */
  sendFile(chatId: string, file: ChannelFile, options?: Omit<SendOptions, 'buttons'>): Promise<string>;
  /** Replaces a message, including its buttons. A missing or unchanged message is not an error. */
  edit(chatId: string, messageId: string, piece: MessagePart, options?: SendOptions): Promise<void>;
  /** Shows for a few seconds that an answer is being written. Best effort: never rejects. */
  typing(chatId: string): Promise<void>;
  /** Confirms a button press. A press that is too old is not an error. */
  heard(tapId: string, text?: string): Promise<void>;
}
