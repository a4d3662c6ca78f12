import type { Channel } from '../../channel/channel.ts';

/** A message as the user sees it. */
export interface SeenMessage {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  /** The content of a sent file. */
  readonly file?: { readonly name: string; readonly text: string };
  /** The id of the message that this one replies to. */
  readonly replyTo?: string;
}

/**
 * The fault of the next call. Nothing is sent with `markup` (its first attempt), `limit` (retry after 7 seconds),
 * `blocked`, `gone`, `token`, `down` and `refused`; with `cut`, `lost` and `timeout` the outcome is unknown.
 */
export type ChannelFault =
  | 'markup'
  | 'limit'
  | 'blocked'
  | 'gone'
  | 'token'
  | 'down'
  | 'refused'
  | 'cut'
  | 'lost'
  | 'timeout';

/** A channel and its user, for one case. */
export interface ChannelScene {
  readonly channel: Channel;
  /** A chat that accepts messages and contains none of the channel yet. */
  readonly chatId: string;
  /** Messages of the channel in the chat, oldest first. */
  seen(): readonly SeenMessage[];
  /** Sets the fault of the next call. */
  meet(fault: ChannelFault): void;
  /** Advances the time during a call until the channel times out. */
  pass(): Promise<void>;
  /** Returns the number of requests that send messages, to verify that none is repeated. */
  sends(): number;
  /** Presses a button of a message. Returns the id of the press, which can be confirmed. */
  tap(messageId: string): string;
  /** Makes earlier button presses too old to confirm. */
  expireTaps(): void;
  /** Deletes a message as the user. */
  remove(messageId: string): void;
  close?(): Promise<void>;
}

/** An implementation and its properties. */
export interface ChannelSubject {
  readonly name: string;
  open(): Promise<ChannelScene>;
  /** Maximum length of a message in UTF-16 code units. */
  readonly longest: number;
  /** Returns the visible text of markup. Default: a channel without markup. */
  readonly visible?: (markup: string) => string;
  /** Faults that cannot happen in this channel, with the reason; such cases are skipped. */
  readonly lacks?: Readonly<Partial<Record<ChannelFault | 'tap' | 'remove', string>>>;
}
