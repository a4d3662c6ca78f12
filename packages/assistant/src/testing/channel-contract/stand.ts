import type { Channel } from '../../channel/channel.ts';

/** A message as the people in the chat see it. */
export interface SeenMessage {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  /** The content of a sent file. */
  readonly file?: { readonly name: string; readonly text: string };
  /** The id of the message that it replies to. */
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

/** A channel and the other end of it, for one case. */
export interface ChannelScene {
  readonly channel: Channel;
  /** A chat that takes messages and holds none of the channel's yet. */
  readonly chatId: string;
  /** Messages of the channel in the chat, oldest first. */
  seen(): readonly SeenMessage[];
  /** Lets the next call meet this. */
  meet(fault: ChannelFault): void;
  /** Advances time until the channel times out. Called during a call. */
  pass(): Promise<void>;
  /** Requests, or what stands for them, by which messages are sent; counted to see that none is tried twice. */
  sends(): number;
  /** The id of a tap that can still be answered. */
  tap(messageId: string): string;
  /** Taps from before are too old. */
  expireTaps(): void;
  /** The person takes a message away. */
  remove(messageId: string): void;
  close?(): Promise<void>;
}

/** An implementation and what it needs. */
export interface ChannelSubject {
  readonly name: string;
  open(): Promise<ChannelScene>;
  /** Longest text of a message in UTF-16 units. */
  readonly longest: number;
  /** The text that people see of markup. Default: a channel without markup. */
  readonly visible?: (markup: string) => string;
  /** Faults that cannot happen in this channel, with the reason; such cases are skipped. */
  readonly lacks?: Readonly<Partial<Record<ChannelFault | 'tap' | 'remove', string>>>;
}
