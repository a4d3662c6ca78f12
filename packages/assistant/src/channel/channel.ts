import type { Reader } from '@cobbler/agent/input';
import { listOf, optional, record, signal, text, withArguments, withMethods } from '@cobbler/agent/input';
import type { ReadUpdate } from './incoming.ts';

/** A part of a reply that fits in one message of the channel. */
export interface MessagePart {
  /** Plain text, sent if the markup is rejected. */
  readonly text: string;
  /** The same text in the channel's own markup. */
  readonly markup?: string;
}

/** A button below a message, which the user can press. */
export interface Button {
  readonly label: string;
  /** Value of at most 64 bytes, returned when the button is pressed. */
  readonly data: string;
}

/** Maximum length of a note above a message, in UTF-16 code units. Each message part leaves room for it. */
export const maxNoteLength = 100;

/** Options of one message. */
export interface SendOptions {
  readonly signal?: AbortSignal;
  readonly buttons?: readonly Button[];
  /** A line of plain text above the message, at most {@link maxNoteLength} long. */
  readonly note?: string;
  /** The channel's id of the message that this one replies to. A message that no longer exists is not an error. */
  readonly replyTo?: string;
}

/** A file to send. */
export interface ChannelFile {
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/**
 * The connection to a messaging platform. Each call is attempted once; the caller decides whether to retry. Calls reject
 * with AgentError: `rate_limit` with `retryAfterMs`; `network` or `agent`, with `retryable` true if nothing was sent;
 * code `maybe_sent` if the outcome is unknown; `auth` for an invalid token; `invalid` with code `chat_gone` if the
 * user has blocked the bot or the chat no longer exists. Every implementation must pass `channelContract` in the
 * testing entry.
 */
export interface Channel {
  readonly name: string;
  /** Splits a Markdown reply into parts, always in the same way. */
  pieces(markdown: string): readonly MessagePart[];
  /** Sends one part and returns the channel's id of the message. */
  send(chatId: string, piece: MessagePart, options?: SendOptions): Promise<string>;
  /** Sends text as a file and returns the channel's id of the message. */
  sendFile(chatId: string, file: ChannelFile, options?: Omit<SendOptions, 'buttons'>): Promise<string>;
  /** Replaces a message, including its buttons. A missing or unchanged message is not an error. */
  edit(chatId: string, messageId: string, piece: MessagePart, options?: SendOptions): Promise<void>;
  /** Shows a typing indicator for a few seconds. Best effort: never rejects. */
  typing(chatId: string): Promise<void>;
  /** Confirms a button press. A press that is too old is not an error. */
  heard(tapId: string, text?: string): Promise<void>;
}

/** A channel that receives messages on its own, such as one of an agent folder. */
export interface ListeningChannel extends Channel {
  /**
   * Passes what arrives to `receive`, until the signal aborts. After `receive` resolves, the arrival is processed even after
   * a crash. The channel decides which users may write to the assistant.
   */
  listen(receive: (update: ReadUpdate) => Promise<boolean>, signal: AbortSignal): Promise<void>;
}

/** Reads a part of a message. */
export const readPart: Reader<MessagePart> = record<MessagePart>({ text, markup: text }, ['text']);

const isChannel = withMethods<Channel>('pieces', 'send', 'sendFile', 'edit', 'typing', 'heard');

const named = record<Pick<Channel, 'name'>>({ name: text }, ['name']);

/** Reads a channel. */
export const readChannel: Reader<Channel> = (value) => {
  named(value);
  return isChannel(value);
};

const readSendOptions = record<SendOptions>({
  signal,
  buttons: listOf(record<Button>({ label: text, data: text }, ['label', 'data'])),
  note: text,
  replyTo: text,
});

const readFile = record<ChannelFile>({ name: text, type: text, text }, ['name', 'type', 'text']);

/** Makes the functions of a channel read their arguments. */
export function withReadArguments<Kind extends Channel>(channel: Kind): Kind {
  const options = optional(readSendOptions);
  withArguments<Channel>(channel, { pieces: { markdown: text } }, false);
  withArguments<Channel>(channel, {
    send: { chatId: text, piece: readPart, options },
    sendFile: { chatId: text, file: readFile, options },
    edit: { chatId: text, messageId: text, piece: readPart, options },
    typing: { chatId: text },
    heard: { tapId: text, text: optional(text) },
  });
  return channel;
}
